import { expect, test } from 'vitest';
import { idempotent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';

/** Two operations that overwrite one another: each safe to retry by itself. */
function prices() {
  const clock = { now: 1_900_000_000_000 };
  let price = 0;
  const setPrice = idempotent(
    async ({ to }: { id: string; to: number }) => {
      price = to;
      return price;
    },
    {
      store: memoryStore({ now: () => clock.now }),
      operation: 'set-price',
      key: ({ id }) => id,
      retention: { hours: 1 },
      lease: { minutes: 1 },
    },
  );
  return { clock, setPrice, price: () => price };
}

test('of two operations in a row, a late retry of the first replays and undoes nothing of the second', async () => {
  const { setPrice, price } = prices();
  await setPrice({ id: 'monday', to: 10 });
  await setPrice({ id: 'tuesday', to: 20 });
  expect(await setPrice({ id: 'monday', to: 10 })).toBe(10);
  expect(price()).toBe(20);
});

test('a chain of idempotent operations is not idempotent: past the retention the first one’s retry overwrites the second', async () => {
  const { clock, setPrice, price } = prices();
  await setPrice({ id: 'monday', to: 10 });
  await setPrice({ id: 'tuesday', to: 20 });
  clock.now += 3_600_001;
  await setPrice({ id: 'monday', to: 10 });
  expect(price()).toBe(10);
});
