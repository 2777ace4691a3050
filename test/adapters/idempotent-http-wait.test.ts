import { describe, expect, test, vi } from 'vitest';
import { type HttpOptions, idempotentHttp } from '../../src/index.ts';
import { call, problemIn } from '../middleware/support/middy.ts';
import { gate, world } from '../middleware/support/world.ts';
import { contextWith, fronts } from '../support/http.ts';

type Options = Partial<HttpOptions<unknown, unknown, unknown>>;
const event = (body: unknown = 1) => fronts.v2({ key: 'k', body });

/** A winner that runs until the test lets it end, and whoever comes after it answers at once. */
async function start(options: Options = {}) {
  const all = world();
  const [started, finish] = [gate(), gate()];
  let first: unknown = { statusCode: 201, body: 'first' };
  const run = vi.fn(async () => {
    if (run.mock.calls.length > 1) return { statusCode: 201, body: 'second' };
    started.open();
    await finish.opened;
    if (first instanceof Error) throw first;
    return first;
  });
  const { store, observe } = all;
  const wait = { seconds: 20 };
  const seat = idempotentHttp(run, { store, operation: 'place', scope: 'none', observe, wait, ...options });
  const winner = call(seat, event()).catch((error: unknown) => error);
  await started.opened;
  const end = (result: unknown): void => {
    first = result;
    finish.open();
  };
  return { ...all, seat, run, winner, end };
}

const timed = async <Result>(work: Promise<Result>): Promise<{ result: Result; took: number }> => {
  const began = performance.now();
  return { result: await work, took: performance.now() - began };
};

describe('L08: a duplicate that waits', () => {
  test('L08: gets the winner’s answer, and nothing runs twice', async () => {
    const { seat, run, end, told } = await start();
    const waiter = call(seat, event());
    end({ statusCode: 201, body: 'first' });
    expect(await waiter).toMatchObject({
      statusCode: 201,
      body: 'first',
      headers: { 'Idempotency-Replayed': 'true' },
    });
    expect(run).toHaveBeenCalledTimes(1);
    expect(told()).toEqual(['claimed', 'completed', 'waited', 'replayed']);
  });

  test('L08: is bounded by the time left, less a margin for the answer', async () => {
    const { seat, run, end, winner } = await start();
    const { result, took } = await timed(call(seat, event(), contextWith(450)));
    expect(problemIn(result)).toMatchObject({ status: 409, code: 'busy' });
    expect(Number(result.headers?.['Retry-After'])).toBeGreaterThanOrEqual(1);
    expect(took).toBeGreaterThan(150);
    expect(took).toBeLessThan(430);
    end({ statusCode: 201 });
    await winner;
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('L08: is bounded by the option', async () => {
    const { seat, end, winner } = await start({ wait: { milliseconds: 120 } });
    const { result, took } = await timed(call(seat, event()));
    expect(problemIn(result)).toMatchObject({ code: 'busy' });
    expect(took).toBeGreaterThan(110);
    expect(took).toBeLessThan(400);
    end({ statusCode: 201 });
    await winner;
  });

  test('L08: polls rarely, later more rarely', async () => {
    const { seat, calls, end, winner } = await start({ wait: { milliseconds: 600 } });
    await call(seat, event());
    const reads = calls.filter((kind) => kind === 'read').length;
    expect(reads).toBeGreaterThanOrEqual(3);
    expect(reads).toBeLessThanOrEqual(12);
    end({ statusCode: 201 });
    await winner;
  });

  test('L08: ends when its invocation is aborted', async () => {
    const { seat, calls, end, winner } = await start();
    const abort = new AbortController();
    const waiter = seat(event(), contextWith(), { signal: abort.signal });
    setTimeout(() => abort.abort(), 30);
    const { result, took } = await timed(waiter);
    expect(result).toMatchObject({ statusCode: 409 });
    expect(took).toBeLessThan(300);
    const before = calls.length;
    end({ statusCode: 201 });
    await winner;
    expect(calls.slice(before)).toEqual(['complete']);
  });

  test('L08: runs itself when the winner let go', async () => {
    const { seat, run, end, winner } = await start();
    const waiter = call(seat, event());
    const failure = new Error('clean failure');
    end(failure);
    expect(await winner).toBe(failure);
    expect(await waiter).toEqual({ statusCode: 201, body: 'second' });
    expect(run).toHaveBeenCalledTimes(2);
  });

  test('H06 L08: with another body it is refused at once, not after the wait', async () => {
    const { seat, end, winner } = await start();
    const { result, took } = await timed(call(seat, event(2)));
    expect(problemIn(result)).toMatchObject({ status: 422, code: 'key-reused' });
    expect(took).toBeLessThan(100);
    end({ statusCode: 201 });
    await winner;
  });

  test('H06 L08: finds a mismatch when somebody else took the freed key for another request', async () => {
    const { seat, run, end, winner, store, records, calls } = await start();
    const patient = call(seat, event());
    await expect.poll(() => calls.includes('read')).toBe(true);
    const [record] = records();
    if (record === undefined) throw new Error('no record');
    // what a client does that gives up on its first request and sends another one under the same key
    const { expiresAt } = record;
    const release = { kind: 'release', held: record, forget: true, endedAt: store.now(), expiresAt } as const;
    await store.write(release, { budget: 1000 });
    expect(await call(seat, event(2))).toEqual({ statusCode: 201, body: 'second' });
    expect(problemIn(await patient)).toMatchObject({ status: 422, code: 'key-reused' });
    end({ statusCode: 201, body: 'first' });
    expect(problemIn((await winner) as never), 'the robbed owner').toMatchObject({
      status: 503,
      code: 'lease-lost',
    });
    expect(run).toHaveBeenCalledTimes(2);
  });
});
