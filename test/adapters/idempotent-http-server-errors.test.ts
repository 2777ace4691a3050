import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { problemIn } from '../middleware/support/middy.ts';
import { failure, type SeatOptions, seatOf, thrower } from '../middleware/support/seat.ts';
import { contextWith } from '../support/http.ts';

describe('no path stores a 5xx', () => {
  class Opaque {
    toJSON(): object {
      return { statusCode: 500, body: 'b' };
    }
  }
  const paths: [string, () => unknown, SeatOptions][] = [
    ['a returned 500', () => ({ statusCode: 500 }), {}],
    ['a returned 503', () => ({ statusCode: 503 }), {}],
    ['a returned "502"', () => ({ statusCode: '502' }), {}],
    ['a returned 500, classified complete', () => ({ statusCode: 500 }), { classify: () => 'complete' }],
    ['a returned "503", classified complete', () => ({ statusCode: '503' }), { classify: () => 'complete' }],
    ['a 500 that only its JSON shows', () => new Opaque(), {}],
    ['the same, classified complete', () => new Opaque(), { classify: () => 'complete' }],
    [
      'a 500 with a stream',
      () => ({ statusCode: 500, body: Readable.from([]) }),
      { classify: () => 'complete' },
    ],
    [
      'a 500 that is too large',
      () => ({ statusCode: 500, body: 'x'.repeat(500_000) }),
      { classify: () => 'complete' },
    ],
    ['a thrown 503', thrower(failure('x', { statusCode: 503 })), {}],
    ['a thrown 503, to be recorded', thrower(failure('x', { statusCode: 503 })), { onFailure: 'record' }],
    [
      'a thrown "500", to be recorded',
      thrower(failure('x', { status: '500' })),
      { onFailure: () => 'record' },
    ],
  ];
  test.each(paths)('%s frees the key, the caller gets it as it is', async (_name, work, options) => {
    const { send, records, run, told } = seatOf(work, options);
    await send().catch(() => undefined);
    expect(records()).toMatchObject([{ state: 'released' }]);
    expect(records()[0]).not.toHaveProperty('outcome');
    expect(told()).toEqual(['claimed', 'released']);
    await send().catch(() => undefined);
    expect(run).toHaveBeenCalledTimes(2);
  });

  test('a 500 that reconcile found leaves the operation in doubt', async () => {
    const { breakWrites, skip, send, records } = seatOf(() => ({ statusCode: 201 }), {
      onLapse: () => ({ found: { statusCode: 500 } }),
    });
    breakWrites('complete');
    await send(1, contextWith(100));
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
    const { send, store, breakWrites, skip, rows } = seatOf(() => ({ statusCode: 201 }));
    breakWrites('complete');
    await send(1, contextWith(100));
    breakWrites();
    skip(600_000);
    const before = rows();
    const who = { operation: 'place', scope: 'none', key: 'k', by: 'ops', why: 'test' };
    await expect(store.resolve({ ...who, ...decision })).rejects.toMatchObject({ code: 'options' });
    expect(rows()).toBe(before);
  });
});
