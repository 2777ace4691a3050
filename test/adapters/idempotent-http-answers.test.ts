import { describe, expect, test, vi } from 'vitest';
import { type HttpOptions, idempotentHttp } from '../../src/index.ts';
import { frontEnds, headersOf } from '../middleware/support/fronts.ts';
import { type Answer, call, problemIn } from '../middleware/support/middy.ts';
import { gate, world } from '../middleware/support/world.ts';
import { contextWith, fronts } from '../support/http.ts';

type Options = Partial<HttpOptions<unknown, unknown, unknown>>;

/** A handler that answers when it is told to, in a world of its own. */
function start(options: Options = {}, all = world()) {
  const [started, finish] = [gate(), gate()];
  const run = vi.fn(async (): Promise<unknown> => {
    started.open();
    await finish.opened;
    return { statusCode: 201, headers: { Location: '/orders/1' }, body: '{"id":1}' };
  });
  const { store, observe } = all;
  const seat = idempotentHttp(run, { store, operation: 'place', scope: 'none', observe, ...options });
  return { ...all, started, finish, run, seat };
}

describe.each(frontEnds)('the answers of section 6, from %s', (_name, front, multi) => {
  const expectProblem = (answer: Answer, status: number, code: string): void => {
    expect(answer.statusCode).toBe(status);
    expect(headersOf(answer, multi)).toMatchObject({
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
    });
    expect(answer).not.toHaveProperty(multi ? 'headers' : 'multiValueHeaders');
    expect(problemIn(answer)).toEqual({
      type: `urn:lambda-once:${code}`,
      title: expect.stringMatching(/\w/),
      status,
      detail: expect.stringMatching(/\w/),
      code,
    });
  };
  const hintOf = (answer: Answer): number => Number(headersOf(answer, multi)['Retry-After']);
  const post = (key: string, body: unknown = 1) => front({ key, body });

  test('400: the key is missing, or malformed, or there are two', async () => {
    const { seat, calls } = start();
    expectProblem(await call(seat, front({ body: 1 })), 400, 'key-missing');
    for (const key of ['', '  ', 'é', 'a\tb', '"open', 'x'.repeat(256), 'a, b']) {
      expectProblem(await call(seat, post(key)), 400, 'key-invalid');
    }
    expect(calls).toEqual([]);
  });

  test('422 H06: the same key for another request, in every state; mismatch beats busy', async () => {
    const { seat, started, finish, run, skip, store } = start();
    const first = call(seat, post('k'));
    await started.opened;
    expectProblem(await call(seat, post('k', 2)), 422, 'key-reused');
    expectProblem(await call(seat, post('k')), 409, 'busy');
    skip(60_000);
    expectProblem(await call(seat, post('k', 2)), 422, 'key-reused');
    expectProblem(await call(seat, post('k')), 409, 'in-doubt');
    expectProblem(await call(seat, post('k', 2)), 422, 'key-reused');
    finish.open();
    await first;
    expectProblem(await call(seat, post('k', 2)), 422, 'key-reused');
    expect(run).toHaveBeenCalledTimes(1);
    expect(await store.lookup({ operation: 'place', scope: 'none', key: 'k' })).toMatchObject({
      state: 'completed',
    });
  });

  test('422: a released key stays bound to its request', async () => {
    const { seat, run } = start();
    run.mockResolvedValueOnce({ statusCode: 503, body: '' });
    await call(seat, post('k'));
    expectProblem(await call(seat, post('k', 2)), 422, 'key-reused');
  });

  test('409 busy: with a hint in whole seconds, at least 1, from the lease, capped', async () => {
    const { seat, started, finish } = start();
    const first = call(seat, post('k'), contextWith(500));
    await started.opened;
    const busy = await call(seat, post('k'));
    expectProblem(busy, 409, 'busy');
    expect(hintOf(busy)).toBe(6); // 0.5 s left + 2 s grace + 3 s skew, rounded up
    finish.open();
    await first;
    const long = start();
    const other = call(long.seat, post('k'), contextWith(900_000));
    await long.started.opened;
    expect(hintOf(await call(long.seat, post('k')))).toBe(10);
    long.finish.open();
    await other;
  });

  test('409 in-doubt: lapsed and undecided', async () => {
    const { seat, breakWrites, finish, skip } = start();
    finish.open();
    breakWrites('complete');
    await call(seat, post('k'), contextWith(100));
    breakWrites();
    skip(20_000);
    const answer = await call(seat, post('k'));
    expectProblem(answer, 409, 'in-doubt');
    expect(hintOf(answer)).toBeGreaterThanOrEqual(1);
  });

  test('503 store: fails closed, nothing runs', async () => {
    const { seat, breakWrites, run } = start();
    breakWrites('claim');
    const answer = await call(seat, post('k'));
    expectProblem(answer, 503, 'store');
    expect(hintOf(answer)).toBe(2);
    expect(run).not.toHaveBeenCalled();
  });

  test.each([[0], [1], [-5]])(
    '503 L01: with %d ms left nothing is started and nothing claimed',
    async (left) => {
      const { seat, calls, run } = start();
      const answer = await call(seat, post('k'), { getRemainingTimeInMillis: () => left });
      expectProblem(answer, 503, 'lease-lost');
      expect(hintOf(answer)).toBe(1);
      expect(calls).toEqual([]);
      expect(run).not.toHaveBeenCalled();
    },
  );

  test('replay: first status, body and headers, and the mark', async () => {
    const { seat, finish, run } = start();
    finish.open();
    const first = await call(seat, post('k'));
    expect(first).toEqual({ statusCode: 201, headers: { Location: '/orders/1' }, body: '{"id":1}' });
    const { multiValueHeaders, ...replay } = await call(seat, post('k'));
    const marks = multi
      ? multiValueHeaders
      : { 'Idempotency-Replayed': [replay.headers?.['Idempotency-Replayed']] };
    expect(marks).toEqual({ 'Idempotency-Replayed': ['true'] });
    expect(replay).toMatchObject(first);
    expect(run).toHaveBeenCalledTimes(1);
  });
});

test('L01: the lease always reaches past the deadline; without a deadline it is Lambda’s maximum and the grace', async () => {
  const lengths: [object, number][] = [
    [contextWith(30_000), 32_000],
    [{ getRemainingTimeInMillis: () => Number.NaN }, 902_000],
    [{ getRemainingTimeInMillis: () => 10 ** 9 }, 902_000],
    [{}, 902_000],
  ];
  for (const [context, length] of lengths) {
    const { seat, finish, records } = start();
    finish.open();
    await call(seat, fronts.v2({ key: 'k', body: 1 }), context);
    const [{ leaseUntil, claimedAt } = { leaseUntil: 0, claimedAt: 0 }] = records();
    expect(Math.abs(leaseUntil - claimedAt - length)).toBeLessThan(50);
  }
});
