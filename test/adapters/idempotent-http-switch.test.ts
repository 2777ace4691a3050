import { afterEach, describe, expect, test, vi } from 'vitest';
import { dynamoStore, idempotentHttp } from '../../src/index.ts';
import { call } from '../middleware/support/middy.ts';
import { seatOf } from '../middleware/support/seat.ts';
import { fronts } from '../support/http.ts';

afterEach(() => void vi.unstubAllEnvs());

describe('P09: the kill switch', () => {
  test.each([['1'], ['true'], ['TRUE']])(
    'P09: LAMBDA_ONCE_DISABLED=%s: no client, no calls, no key needed, errors untouched',
    async (value) => {
      vi.stubEnv('LAMBDA_ONCE_DISABLED', value);
      vi.stubEnv('LAMBDA_ONCE_TABLE', undefined);
      const own = new Error('mine');
      const run = vi.fn(() => ({ statusCode: 201 }));
      // a store that would fail on the first call: there is no table and no region
      const options = { store: dynamoStore(), operation: 'place', scope: 'none' } as const;
      const seat = idempotentHttp(run, options);
      for (const parts of [{ key: 'k' }, { key: 'k' }, {}]) {
        expect(await call(seat, fronts.v1({ body: 1, ...parts }))).toEqual({ statusCode: 201 });
      }
      expect(run).toHaveBeenCalledTimes(3);
      const failing = idempotentHttp(() => Promise.reject(own), { ...options, operation: 'fail' });
      await expect(call(failing, fronts.v1({ key: 'k', body: 1 }))).rejects.toBe(own);
    },
  );

  test.each([['0'], ['false'], ['']])('P09: LAMBDA_ONCE_DISABLED=%j protects', async (value) => {
    vi.stubEnv('LAMBDA_ONCE_DISABLED', value);
    const { send, told } = seatOf();
    await send();
    expect(told()).toEqual(['claimed', 'completed']);
  });
});
