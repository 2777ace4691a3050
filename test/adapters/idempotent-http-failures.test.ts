import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { type HttpOptions, idempotentHttp } from '../../src/index.ts';
import { call, problemIn } from '../middleware/support/middy.ts';
import { world } from '../middleware/support/world.ts';
import { contextWith, fronts } from '../support/http.ts';

type Options = Partial<HttpOptions<unknown, unknown, unknown>>;
const event = () => fronts.v1({ key: 'k', body: { amount: 1 } });

function start(work: () => unknown, options: Options = {}) {
  const all = world();
  const { store, observe } = all;
  const run = vi.fn(async () => work());
  const seat = idempotentHttp(run, { store, operation: 'place', scope: 'none', observe, ...options });
  return { ...all, run, seat, send: () => call(seat, event()) };
}

const error = (message: string, members: object = {}) => Object.assign(new Error(message), members);
const thrower = (thrown: unknown) => (): never => {
  throw thrown;
};

describe('L12: what a returned status does with the claim', () => {
  const fates: [unknown, string][] = [
    [200, 'completed'],
    [204, 'completed'],
    [302, 'completed'],
    [400, 'completed'],
    [404, 'completed'],
    [410, 'completed'],
    [422, 'completed'],
    ['201', 'completed'],
    ...[401, 403, 409, 423, 425, 429, 500, 502, 503, 599, '502'].map((status): [unknown, string] => [status, 'released']),
    [408, 'claimed'],
    ['408', 'claimed'],
  ];
  test.each(fates)('L12: %j: %s', async (statusCode, state) => {
    const { send, records } = start(() => ({ statusCode, body: 'b' }));
    expect(await send()).toEqual({ statusCode, body: 'b' });
    expect(records()).toMatchObject([{ state }]);
    if (state !== 'completed') expect(records()[0]).not.toHaveProperty('outcome');
  });

  test('L12: 500, then 201 with the same key: the second counts, and replays', async () => {
    let runs = 0;
    const { send, run } = start(() => ({ statusCode: (runs += 1) === 1 ? 500 : 201, body: `${runs}` }));
    expect((await send()).statusCode).toBe(500);
    expect(await send()).toMatchObject({ statusCode: 201, body: '2' });
    expect(await send()).toMatchObject({ statusCode: 201, body: '2' });
    expect(run).toHaveBeenCalledTimes(2);
  });

  test('L12: classify overrides in both directions', async () => {
    const classify = (result: unknown) => ((result as { statusCode: number }).statusCode === 404 ? 'release' : 'complete');
    const [missing, limited] = [404, 429].map((statusCode) => start(() => ({ statusCode }), { classify }));
    await missing?.send();
    await limited?.send();
    expect(missing?.records()).toMatchObject([{ state: 'released' }]);
    expect(limited?.records()).toMatchObject([{ state: 'completed' }]);
  });
});

describe('L11: what a thrown error does with the claim', () => {
  const policies: [string, unknown, Options, string][] = [
    ['a plain error, by default', error('x'), {}, 'released'],
    ['a deliberate 4xx, by default', error('x', { statusCode: 402 }), {}, 'completed'],
    ['the same under the name status', error('x', { status: 422 }), {}, 'completed'],
    ['a 409, by default', error('x', { statusCode: 409 }), {}, 'released'],
    ['a 408, by default', error('x', { statusCode: 408 }), {}, 'claimed'],
    ['a TimeoutError, by default', error('x', { name: 'TimeoutError' }), {}, 'claimed'],
    ['an AbortError, by default', error('x', { name: 'AbortError' }), {}, 'claimed'],
    ['a plain error with a reconcile', error('x'), { onLapse: () => 'unknown' }, 'claimed'],
    ["a 4xx under 'release'", error('x', { statusCode: 402 }), { onFailure: 'release' }, 'released'],
    ["a plain error under 'record'", error('x'), { onFailure: 'record' }, 'completed'],
    ["a plain error under 'hold'", error('x'), { onFailure: 'hold' }, 'claimed'],
    ['a thrown text', 'no', {}, 'released'],
    ['a thrown undefined', undefined, {}, 'released'],
  ];
  test.each(policies)('L11: %s: the caller gets the error itself, the row is %s', async (_name, thrown, options, state) => {
    const { send, records } = start(thrower(thrown), options);
    await expect(send()).rejects.toBe(thrown);
    expect(records()).toMatchObject([{ state }]);
  });

  test('L11: the policy may differ per error', async () => {
    const onFailure = (thrown: unknown) => ((thrown as Error).message === 'declined' ? 'record' : 'hold');
    const [declined, lost] = ['declined', 'lost'].map((message) => start(thrower(error(message)), { onFailure }));
    await expect(declined?.send()).rejects.toThrow();
    await expect(lost?.send()).rejects.toThrow();
    expect([declined?.records()[0]?.state, lost?.records()[0]?.state]).toEqual(['completed', 'claimed']);
  });

  test('L11: a recorded refusal is thrown again with name, message, status and code, marked, without a stack', async () => {
    const thrown = error('no funds', { name: 'FundsError', statusCode: 402, code: 'E_FUNDS', secret: 's' });
    const { send, run } = start(thrower(thrown));
    await expect(send()).rejects.toBe(thrown);
    const again = await send().catch((caught: unknown) => caught as Error);
    expect(again).toMatchObject({ name: 'FundsError', message: 'no funds', statusCode: 402, code: 'E_FUNDS' });
    expect(again).toMatchObject({ headers: { 'Idempotency-Replayed': 'true' } });
    expect(again).not.toHaveProperty('secret');
    expect((again as Error).stack).toBe('FundsError: no funds');
    expect(run).toHaveBeenCalledTimes(1);
  });
});

describe('no path stores a 5xx', () => {
  class Opaque {
    toJSON(): object {
      return { statusCode: 500, body: 'b' };
    }
  }
  const paths: [string, () => unknown, Options][] = [
    ['a returned 500', () => ({ statusCode: 500 }), {}],
    ['a returned 503', () => ({ statusCode: 503 }), {}],
    ['a returned "502"', () => ({ statusCode: '502' }), {}],
    ['a returned 500, classified complete', () => ({ statusCode: 500 }), { classify: () => 'complete' }],
    ['a returned "503", classified complete', () => ({ statusCode: '503' }), { classify: () => 'complete' }],
    ['a 500 that only its JSON shows', () => new Opaque(), {}],
    ['the same, classified complete', () => new Opaque(), { classify: () => 'complete' }],
    ['a 500 with a stream', () => ({ statusCode: 500, body: Readable.from([]) }), { classify: () => 'complete' }],
    ['a 500 that is too large', () => ({ statusCode: 500, body: 'x'.repeat(500_000) }), { classify: () => 'complete' }],
    ['a thrown 503', thrower(error('x', { statusCode: 503 })), {}],
    ['a thrown 503, to be recorded', thrower(error('x', { statusCode: 503 })), { onFailure: 'record' }],
    ['a thrown "500", to be recorded', thrower(error('x', { status: '500' })), { onFailure: () => 'record' }],
  ];
  test.each(paths)('%s frees the key, the caller gets it as it is', async (_name, work, options) => {
    const { send, records, run, told } = start(work, options);
    await send().catch(() => undefined);
    expect(records()).toMatchObject([{ state: 'released' }]);
    expect(records()[0]).not.toHaveProperty('outcome');
    expect(told()).toEqual(['claimed', 'released']);
    await send().catch(() => undefined);
    expect(run).toHaveBeenCalledTimes(2);
  });

  test('a 500 that reconcile found leaves the operation in doubt', async () => {
    const { seat, breakWrites, skip, send, records } = start(() => ({ statusCode: 201 }), {
      onLapse: () => ({ found: { statusCode: 500 } }),
    });
    breakWrites('complete');
    await call(seat, event(), contextWith(100));
    breakWrites();
    skip(600_000);
    expect(problemIn(await send())).toMatchObject({ status: 409, code: 'in-doubt' });
    expect(records()).toMatchObject([{ state: 'in-doubt' }]);
    expect(records()[0]).not.toHaveProperty('outcome');
  });

  test.each([
    ['a value', { as: 'completed', value: { statusCode: 500 } }],
    ['a rejection', { as: 'rejected', rejection: { name: 'E', message: 'm', status: 503 } }],
  ] as const)('store.resolve refuses %s with a 5xx', async (_name, decision) => {
    const { seat, store, breakWrites, skip, rows } = start(() => ({ statusCode: 201 }));
    breakWrites('complete');
    await call(seat, event(), contextWith(100));
    breakWrites();
    skip(600_000);
    const before = rows();
    const who = { operation: 'place', scope: 'none', key: 'k', by: 'ops', why: 'test' };
    await expect(store.resolve({ ...who, ...decision })).rejects.toMatchObject({ code: 'options' });
    expect(rows()).toBe(before);
  });
});
