import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IdempotencyError, type Reconcile, type Store } from '../../src/index.ts';
import type { SweepOptions, SweepReport } from '../../src/sweeper.ts';
import { memoryStore } from '../../src/testing.ts';
import { Host, idOf, minute, order, payments, provider, second, settled, sweeper } from './support.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
const forever = (): Promise<never> => new Promise(() => {});

/** Orders that died, on the fake clock. */
async function crashed(count: number, reconcile: Reconcile<unknown>) {
  const store = memoryStore();
  const { crash, run } = payments(store, { onLapse: reconcile });
  for (let index = 0; index < count; index += 1) await crash(`o-${index}`);
  vi.advanceTimersByTime(settled);
  return { store, run, told: { operations: { pay: reconcile } } };
}

/** One pass; how long it took, and what it had logged when it ended. */
async function pass(
  options: SweepOptions,
  remaining?: number,
): Promise<{ report: SweepReport; took: number; logged: SweepReport | undefined }> {
  const began = Date.now();
  let logged: SweepReport | undefined;
  const context = { getRemainingTimeInMillis: () => (remaining ?? 0) - (Date.now() - began) };
  const log = (report: SweepReport): void => {
    logged = report;
  };
  const sweep = sweeper({ ...options, log });
  const swept = sweep({}, remaining === undefined ? undefined : context).then((report) => ({
    report,
    took: Date.now() - began,
    logged,
  }));
  await vi.advanceTimersByTimeAsync(2 * minute);
  return swept;
}

test('it stops a second before its deadline, says so, and the next pass goes on', async () => {
  const { store, told } = await crashed(20, async () => {
    await sleep(4 * second);
    return { found: 'late' };
  });
  const first = await pass({ store, ...told, concurrency: 2 }, 30 * second);
  expect(first.report).toMatchObject({ truncated: true, examined: 16, completed: 14, inDoubt: 2 });
  expect(first.took).toBe(29 * second);
  expect(first.logged).toEqual(first.report);
  const second_ = await pass({ store, ...told, concurrency: 2 }, 30 * second);
  expect(second_.report).toMatchObject({ truncated: false, examined: 6, completed: 6 });
});

test('without a deadline it goes on to the end', async () => {
  const { store, told } = await crashed(12, async () => {
    await sleep(5 * second);
    return { found: 'late' };
  });
  const { report, took } = await pass({ store, ...told, concurrency: 1 });
  expect(report).toMatchObject({ truncated: false, examined: 12, completed: 12 });
  expect(took).toBe(minute);
});

test('with no time at all it touches nothing', async () => {
  const reconcile = vi.fn(() => 'absent' as const);
  const { store, told } = await crashed(3, reconcile);
  const { report, took } = await pass({ store, ...told }, second);
  expect(report).toMatchObject({ truncated: true, examined: 0 });
  expect(took).toBe(0);
  expect(reconcile).not.toHaveBeenCalled();
});

test('a reconcile that never answers is waited for 10 seconds, in doubt, and does not hold up the rest', async () => {
  const ended: string[] = [];
  const { store, told } = await crashed(20, async ({ id }) => {
    if (id === idOf('o-0')) return forever();
    await sleep(100);
    ended.push(id);
    return { found: 1 };
  });
  const began = Date.now();
  let allOthers = Number.POSITIVE_INFINITY;
  const write: Store['write'] = async (transition, limits) => {
    const written = await store.write(transition, limits);
    if (ended.length === 19) allOthers = Math.min(allOthers, Date.now() - began);
    return written;
  };
  const { report, took } = await pass({ store: { ...store, write }, ...told, concurrency: 2 });
  expect(report).toMatchObject({ examined: 20, completed: 19, inDoubt: 1, open: [{ why: 'failed' }] });
  expect(allOthers).toBe(19 * 100);
  expect(took).toBe(10 * second);
});

test('each question is cut off in time for the last write: its signal aborts, its answer does not count', async () => {
  const store = memoryStore();
  const host = new Host();
  const psp = provider(host);
  const charge = psp.effect();
  const { crash } = payments(store, {
    host,
    onLapse: 'rerun',
    work: (claim) => claim.perform(charge, order),
  });
  await crash();
  vi.advanceTimersByTime(settled);
  psp.says = async (token) => {
    await sleep(5 * second);
    return { found: { charge: token } };
  };
  const { report, took } = await pass({ store, effects: [charge] }, 4 * second);
  expect(report).toMatchObject({
    inDoubt: 1,
    open: [{ why: 'failed', error: 'TimeoutError', effect: charge.name }],
  });
  expect(took).toBe(3 * second);
  expect(psp.asked[0]?.context.signal.aborted).toBe(true);
});

test('the questions about one record share the time: its effects and then its operation end before the deadline', async () => {
  const store = memoryStore();
  const host = new Host();
  const psp = provider(host);
  const charge = psp.effect();
  const { crash } = payments(store, {
    host,
    onLapse: forever,
    work: (claim) => claim.perform(charge, order),
  });
  await crash();
  vi.advanceTimersByTime(settled);
  psp.says = async (token) => {
    await sleep(9 * second);
    return { found: { charge: token } };
  };
  const { report, took } = await pass(
    { store, effects: [charge], operations: { pay: forever } },
    12 * second,
  );
  expect(report).toMatchObject({ examined: 1, inDoubt: 1 });
  expect(took).toBeLessThanOrEqual(11 * second);
});

test('a store that hangs near the end does not take the report with it', async () => {
  const { store, told } = await crashed(3, () => ({ found: 1 }));
  const read: Store['read'] = async (id, { budget }) => {
    await sleep(budget);
    throw new IdempotencyError('store', 'it did not answer in time', { id });
  };
  const { report, took } = await pass({ store: { ...store, read }, ...told, concurrency: 1 }, 4 * second);
  expect(report).toMatchObject({ failed: report.examined });
  expect(took).toBeLessThan(4 * second);
});

test.each([
  [1, 1],
  [3, 3],
  [undefined, 5],
])('with concurrency %s, %i records are asked about at once and no more', async (concurrency, most) => {
  let now = 0;
  let peak = 0;
  const { store, told } = await crashed(23, async () => {
    now += 1;
    peak = Math.max(peak, now);
    await sleep(100);
    now -= 1;
    return { found: 1 };
  });
  const { report, took } = await pass({ store, ...told, concurrency });
  expect(report).toMatchObject({ completed: 23 });
  expect(peak).toBe(most);
  expect(took).toBe(Math.ceil(23 / most) * 100);
});
