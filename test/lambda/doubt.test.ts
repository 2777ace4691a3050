import { describe, expect, test } from 'vitest';
import { crashed, day, lapsed, minute } from './support.ts';

test('the pause before the next question grows from 1 to 15 minutes, and until then nothing is asked', async () => {
  const { clock, reconcile, sweep, record } = await crashed(() => 'unknown');
  clock.advance(lapsed);
  const pauses: number[] = [];
  for (let asked = 1; asked <= 6; asked += 1) {
    expect(await sweep()).toMatchObject({ examined: 1, inDoubt: 1 });
    expect(record().asked).toBe(asked);
    const pause = (record().dueAt ?? 0) - clock.now();
    pauses.push(pause / minute);
    clock.advance(pause - 1);
    expect(await sweep()).toMatchObject({ examined: 0 });
    clock.advance(1);
  }
  expect(pauses).toEqual([1, 2, 4, 8, 15, 15]);
  expect(reconcile).toHaveBeenCalledTimes(6);
  reconcile.mockReturnValue({ found: 'at last' } as never);
  expect(await sweep()).toMatchObject({ examined: 1, completed: 1, oldestAge: 0 });
});

test('rule 9: each sweep pushes the end of what it leaves in doubt: no stranger, long after its retention', async () => {
  const { clock, pay, run, sweep, record, store } = await crashed(() => 'unknown', {
    retention: { minutes: 5 },
  });
  clock.advance(lapsed);
  for (let week = 0; week < 10; week += 1) {
    await sweep();
    expect(record().expiresAt * 1000).toBeGreaterThanOrEqual(clock.now() + 14 * day);
    clock.advance(7 * day);
  }
  expect(await store.lookup({ operation: 'pay', scope: 'none', key: 'o-1' })).toMatchObject({
    state: 'in-doubt',
  });
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  expect(run).toHaveBeenCalledTimes(1);
});

test('rule 9: where the retention is longer than that, it is pushed by the retention', async () => {
  const { clock, sweep, record } = await crashed(() => 'unknown', { retention: { days: 30 } });
  clock.advance(20 * day);
  await sweep();
  expect(record().expiresAt).toBe(Math.ceil((clock.now() + 30 * day) / 1000));
});

describe('settling: absent, but too early to count', () => {
  test('it is left exactly as it is, and a later pass decides', async () => {
    const { clock, sweep, record } = await crashed(() => 'absent');
    const before = record();
    clock.advance(lapsed);
    const first = await sweep();
    expect(first).toMatchObject({ examined: 1, settling: 1, inDoubt: 0, released: 0, oldestAge: lapsed });
    expect(first.open).toEqual([{ id: before.id, operation: 'pay', age: lapsed, why: 'settling' }]);
    clock.advance(minute - 1);
    expect(await sweep()).toMatchObject({ settling: 1, released: 0 });
    expect(record()).toEqual(before);
    clock.advance(1);
    expect(await sweep()).toMatchObject({ settling: 0, released: 1 });
  });

  test('rule 9: meanwhile it does not turn into a stranger that runs', async () => {
    const { clock, pay, run, sweep } = await crashed(() => 'absent', {
      lease: { seconds: 1 },
      skew: { seconds: 0 },
      retention: { seconds: 1 },
    });
    clock.advance(1001);
    await sweep();
    clock.advance(5000);
    await sweep();
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('how long it takes is what the operation says', async () => {
    const settleAfter = { seconds: 5 };
    const reconcile = (): 'absent' => 'absent';
    const { clock, sweep } = await crashed(
      reconcile,
      {},
      { operations: { pay: { reconcile, settleAfter } } },
    );
    clock.advance(lapsed + 4999);
    expect(await sweep()).toMatchObject({ settling: 1 });
    clock.advance(1);
    expect(await sweep()).toMatchObject({ released: 1 });
  });
});
