import { expect, test } from 'vitest';
import { idempotentHttp } from '../../src/index.ts';
import { contextWith, fronts } from '../support/http.ts';
import { crashed, day, inMemory, lapsed, minute, nothing, settled, sweeper } from './support.ts';

test('found completes, and the next delivery gets what was found, without a run', async () => {
  const { clock, pay, run, sweep, record } = await crashed(() => ({ found: 'charge 7' }));
  const before = record();
  clock.advance(lapsed);
  expect(await sweep()).toEqual({ ...nothing, examined: 1, completed: 1 });
  expect(record()).toMatchObject({ state: 'completed', resolvedBy: 'sweeper', endedAt: clock.now() });
  expect(record().expiresAt).toBe(Math.ceil((clock.now() + day) / 1000));
  expect(record().fence).toBeGreaterThan(before.fence);
  expect(record().owner).not.toBe(before.owner);
  expect(await pay()).toBe('charge 7');
  expect(run).toHaveBeenCalledTimes(1);
});

test('absent releases, and the next delivery runs', async () => {
  const { clock, pay, run, reconcile, sweep, record } = await crashed(() => 'absent');
  clock.advance(settled);
  expect(await sweep()).toEqual({ ...nothing, examined: 1, released: 1 });
  expect(record()).toMatchObject({ state: 'released', resolvedBy: 'sweeper' });
  expect(run).toHaveBeenCalledTimes(1);
  expect(await pay()).toBe('attempt 2');
  expect(reconcile).toHaveBeenCalledTimes(1);
});

const noAnswers: [string, () => unknown, object][] = [
  ['unknown', () => 'unknown', { why: 'unknown' }],
  [
    'a reconcile that throws',
    () => Promise.reject(new RangeError('4111 1111')),
    { why: 'failed', error: 'RangeError' },
  ],
  [
    'a reconcile that throws no error',
    () => Promise.reject('4111 1111' as unknown as Error),
    { why: 'failed', error: 'string' },
  ],
  ['an answer that is none', () => ({ status: 'found' }), { why: 'failed', error: 'InvalidAnswer' }],
  ['no answer', () => undefined, { why: 'failed', error: 'InvalidAnswer' }],
  ['a found server error', () => ({ found: { statusCode: 502 } }), { why: 'failed', error: 'InvalidAnswer' }],
];

test.each(noAnswers)(
  '%s leaves it in doubt and reports it, and neither releases nor runs it',
  async (_, says, why) => {
    const { clock, pay, run, sweep, record } = await crashed(says);
    clock.advance(settled);
    const { open, ...counts } = await sweep();
    expect(counts).toMatchObject({ examined: 1, inDoubt: 1, completed: 0, released: 0, oldestAge: settled });
    expect(open).toEqual([{ id: record().id, operation: 'pay', age: settled, ...why }]);
    expect(record()).toMatchObject({ state: 'in-doubt', asked: 1, dueAt: clock.now() + minute });
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    expect(run).toHaveBeenCalledTimes(1);
  },
);

test('a found value that cannot be stored completes as not kept, as it does when a retry asks', async () => {
  const unstorable = {
    toJSON() {
      throw new Error('not now');
    },
  };
  const byRetry = await crashed(() => ({ found: unstorable }));
  byRetry.clock.advance(lapsed);
  await byRetry.pay();
  expect(byRetry.record().state).toBe('completed');
  const bySweep = await crashed(() => ({ found: unstorable }));
  bySweep.clock.advance(lapsed);
  expect(await bySweep.sweep()).toMatchObject({ completed: 1, failed: 0 });
  await expect(bySweep.pay()).rejects.toMatchObject({ code: 'outcome-not-kept' });
});

test('what is found for an HTTP operation is replayed without the headers that are not sent twice', async () => {
  const { clock, store } = inMemory();
  const reconcile = () => ({
    found: { statusCode: 201, headers: { Location: '/orders/7', 'Set-Cookie': 'session=1' }, body: '{}' },
  });
  const work = (): Promise<{ statusCode: number }> =>
    Promise.reject(new DOMException('too slow', 'TimeoutError'));
  const post = idempotentHttp(work, { store, operation: 'order', scope: 'none', onLapse: { reconcile } });
  const deliver = () => post(fronts.v2({ key: 'k' }), contextWith());
  await expect(deliver()).rejects.toThrow('too slow');
  clock.advance(minute);
  expect(await sweeper({ store, operations: { order: { reconcile } } })()).toMatchObject({ completed: 1 });
  expect(await deliver()).toMatchObject({
    statusCode: 201,
    headers: { Location: '/orders/7', 'Idempotency-Replayed': 'true' },
  });
  expect(JSON.stringify(await deliver())).not.toContain('session');
});
