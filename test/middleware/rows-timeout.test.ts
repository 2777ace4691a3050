import { describe, expect, test } from 'vitest';
import { idempotency } from '../../src/index.ts';
import { contextWith, fronts } from '../support/http.ts';
import { type Chain, call, type Hooks, kits, problemIn } from './support/middy.ts';
import { gate, type World, world } from './support/world.ts';

const event = () => fronts.v2({ key: 'k', body: { amount: 1 } });

/** A handler whose effect comes when the test says so, which is after the early timeout. */
function late(): { effects: () => number; happen: () => void; handler: () => Promise<object> } {
  const { opened, open } = gate();
  let effects = 0;
  return {
    effects: () => effects,
    happen: open,
    handler: async () => {
      await opened;
      effects += 1;
      return { statusCode: 201, body: 'late' };
    },
  };
}

/** Held: the retry is refused with a hint, also after the late effect, and in doubt when the lease is over. */
async function expectHeld(chain: Chain, { told, skip, records }: World, work: ReturnType<typeof late>) {
  expect(told()).toEqual(['claimed', 'held']);
  const retry = await call(chain, event());
  expect(retry.statusCode).toBe(409);
  expect(problemIn(retry).code).toBe('busy');
  expect(Number(retry.headers?.['Retry-After'])).toBeGreaterThanOrEqual(1);
  work.happen();
  await expect.poll(work.effects).toBe(1);
  expect(problemIn(await call(chain, event())).code).toBe('busy');
  expect(records()).toMatchObject([{ state: 'claimed' }]);
  skip(10_000);
  expect(problemIn(await call(chain, event())).code).toBe('in-doubt');
  expect(work.effects()).toBe(1);
}

describe.each(kits)('Middy $version answers early while the handler still runs', (kit) => {
  const errors: [string, Hooks | undefined, object, number?][] = [
    ['its own TimeoutError', undefined, {}],
    ['its own TimeoutError, replaced by an error handler below', kit.errorHandler(), {}],
    ['the same, long before the deadline', kit.errorHandler(), { timeoutEarlyInMillis: 400 }, 450],
    [
      'an error of the user’s making, close to the deadline',
      undefined,
      {
        timeoutEarlyResponse: () => {
          throw Object.assign(new Error('too slow'), { statusCode: 504 });
        },
      },
    ],
    [
      'the same, replaced by an error handler below',
      kit.errorHandler(),
      {
        timeoutEarlyResponse: () => {
          throw new Error('too slow');
        },
      },
    ],
  ];
  test.each(errors)(
    'M10: with %s: the claim is held, the effect happens once',
    async (_name, below, options, left = 60) => {
      const all = world();
      const work = late();
      const chain = kit
        .middy({ timeoutEarlyInMillis: 10, ...options })
        .use(idempotency({ store: all.store, operation: 'place', scope: 'none', observe: all.observe }))
        .use(below ?? { before: () => undefined })
        .handler(work.handler);
      const answer = call(chain, event(), contextWith(left));
      if (below === undefined) await expect(answer).rejects.toThrow();
      else expect(await answer).toMatchObject({ statusCode: 500 });
      await expectHeld(chain, all, work);
    },
  );

  test.each([[408], [503], [504]])(
    'M11: with a returned %d: neither stored nor released',
    async (statusCode) => {
      const all = world();
      const work = late();
      const chain = kit
        .middy({ timeoutEarlyInMillis: 10, timeoutEarlyResponse: () => ({ statusCode, body: 'slow' }) })
        .use(idempotency({ store: all.store, operation: 'place', scope: 'none', observe: all.observe }))
        .use(kit.cors())
        .handler(work.handler);
      expect(await call(chain, event(), contextWith(60))).toMatchObject({ statusCode, body: 'slow' });
      await expectHeld(chain, all, work);
    },
  );

  test('M11: with a returned 408 the key can be made to run again when the lease is over', async () => {
    const { store, skip } = world();
    const work = late();
    const chain = kit
      .middy({ timeoutEarlyInMillis: 10, timeoutEarlyResponse: () => ({ statusCode: 408 }) })
      .use(idempotency({ store, operation: 'place', scope: 'none', onLapse: 'rerun' }))
      .handler(work.handler);
    await call(chain, event(), contextWith(60));
    expect((await call(chain, event())).statusCode).toBe(409);
    skip(10_000);
    work.happen();
    expect(await call(chain, event())).toMatchObject({ statusCode: 201, body: 'late' });
    expect(work.effects()).toBe(2);
  });

  test('M11: a 408 whose body is data is refused for its order, and held all the same', async () => {
    const all = world();
    const work = late();
    const chain = kit
      .middy({
        timeoutEarlyInMillis: 10,
        timeoutEarlyResponse: () => ({ statusCode: 408, body: { slow: true } }),
      })
      .use(idempotency({ store: all.store, operation: 'place', scope: 'none', observe: all.observe }))
      .handler(work.handler);
    await expect(call(chain, event(), contextWith(60))).rejects.toMatchObject({ code: 'options' });
    await expectHeld(chain, all, work);
  });

  test('M10: two operations in one chain are both held, although an error handler replaced the error', async () => {
    const all = world();
    const work = late();
    const { store, observe } = all;
    const chain = kit
      .middy({ timeoutEarlyInMillis: 400 })
      .use(idempotency({ store, observe, operation: 'outer', scope: 'none' }))
      .use(idempotency({ store, observe, operation: 'inner', scope: 'none' }))
      .use(kit.errorHandler())
      .handler(work.handler);
    expect(await call(chain, event(), contextWith(440))).toMatchObject({ statusCode: 500 });
    expect(all.told()).toEqual(['claimed', 'claimed', 'held', 'held']);
    work.happen();
  });
});
