import { describe, expect, test } from 'vitest';
import { failure, type SeatOptions, seatOf, thrower } from '../middleware/support/seat.ts';

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
    ...[401, 403, 409, 423, 425, 429, 500, 502, 503, 599, '502'].map((status): [unknown, string] => [
      status,
      'released',
    ]),
    [408, 'claimed'],
    ['408', 'claimed'],
  ];
  test.each(fates)('L12: %j: %s', async (statusCode, state) => {
    const { send, records } = seatOf(() => ({ statusCode, body: 'b' }));
    expect(await send()).toEqual({ statusCode, body: 'b' });
    expect(records()).toMatchObject([{ state }]);
    if (state !== 'completed') expect(records()[0]).not.toHaveProperty('outcome');
  });

  test('L12: 500, then 201 with the same key: the second counts, and replays', async () => {
    const statuses = [500, 201];
    const { send, run } = seatOf(() => ({ statusCode: statuses.shift(), body: `${statuses.length} left` }));
    expect((await send()).statusCode).toBe(500);
    expect(await send()).toMatchObject({ statusCode: 201, body: '0 left' });
    expect(await send()).toMatchObject({ statusCode: 201, body: '0 left' });
    expect(run).toHaveBeenCalledTimes(2);
  });

  test('L12: classify overrides in both directions', async () => {
    const classify = (result: unknown) =>
      (result as { statusCode: number }).statusCode === 404 ? 'release' : 'complete';
    const [missing, limited] = [404, 429].map((statusCode) => seatOf(() => ({ statusCode }), { classify }));
    await missing?.send();
    await limited?.send();
    expect(missing?.records()).toMatchObject([{ state: 'released' }]);
    expect(limited?.records()).toMatchObject([{ state: 'completed' }]);
  });
});

describe('L11: what a thrown error does with the claim', () => {
  const policies: [string, unknown, SeatOptions, string][] = [
    ['a plain error, by default', failure('x'), {}, 'released'],
    ['a deliberate 4xx, by default', failure('x', { statusCode: 402 }), {}, 'completed'],
    ['the same under the name status', failure('x', { status: 422 }), {}, 'completed'],
    ['a 409, by default', failure('x', { statusCode: 409 }), {}, 'released'],
    ['a 408, by default', failure('x', { statusCode: 408 }), {}, 'claimed'],
    ['a TimeoutError, by default', failure('x', { name: 'TimeoutError' }), {}, 'claimed'],
    ['an AbortError, by default', failure('x', { name: 'AbortError' }), {}, 'claimed'],
    ['a plain error with a reconcile', failure('x'), { onLapse: () => 'unknown' }, 'claimed'],
    ["a 4xx under 'release'", failure('x', { statusCode: 402 }), { onFailure: 'release' }, 'released'],
    ["a plain error under 'record'", failure('x'), { onFailure: 'record' }, 'completed'],
    ["a plain error under 'hold'", failure('x'), { onFailure: 'hold' }, 'claimed'],
    ['a thrown text', 'no', {}, 'released'],
    ['a thrown undefined', undefined, {}, 'released'],
  ];
  test.each(policies)(
    'L11: %s: the caller gets the error itself, the row is %s',
    async (_name, thrown, options, state) => {
      const { send, records } = seatOf(thrower(thrown), options);
      await expect(send()).rejects.toBe(thrown);
      expect(records()).toMatchObject([{ state }]);
    },
  );

  test('L11: the policy may differ per error', async () => {
    const onFailure = (thrown: unknown) => ((thrown as Error).message === 'declined' ? 'record' : 'hold');
    const [declined, lost] = ['declined', 'lost'].map((message) =>
      seatOf(thrower(failure(message)), { onFailure }),
    );
    await expect(declined?.send()).rejects.toThrow();
    await expect(lost?.send()).rejects.toThrow();
    expect([declined?.records()[0]?.state, lost?.records()[0]?.state]).toEqual(['completed', 'claimed']);
  });

  test('L11: a recorded refusal is thrown again with name, message, status and code, marked, without a stack', async () => {
    const thrown = failure('no funds', { name: 'FundsError', statusCode: 402, code: 'E_FUNDS', secret: 's' });
    const { send, run } = seatOf(thrower(thrown));
    await expect(send()).rejects.toBe(thrown);
    const again = await send().catch((caught: unknown) => caught as Error);
    expect(again).toMatchObject({
      name: 'FundsError',
      message: 'no funds',
      statusCode: 402,
      code: 'E_FUNDS',
    });
    expect(again).toMatchObject({ headers: { 'Idempotency-Replayed': 'true' } });
    expect(again).not.toHaveProperty('secret');
    expect((again as Error).stack).toBe('FundsError: no funds');
    expect(run).toHaveBeenCalledTimes(1);
  });
});
