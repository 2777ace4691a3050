import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Claim, claimOf, dynamoStore, idempotency, type OnceEvent } from '../../src/index.ts';
import { fronts } from '../support/http.ts';
import { call, kits } from './support/middy.ts';

describe.each(kits)('P09: the kill switch, Middy $version', (kit) => {
  beforeEach(() => {
    vi.stubEnv('LAMBDA_ONCE_DISABLED', '1');
    vi.stubEnv('LAMBDA_ONCE_TABLE', undefined);
    vi.stubEnv('AWS_REGION', undefined);
  });
  afterEach(() => void vi.unstubAllEnvs());

  /** There is no table and no region: the first store call would fail. */
  const ours = (observe: (event: OnceEvent) => void) =>
    idempotency({ store: dynamoStore(), operation: 'place', scope: 'none', observe });

  test('P09: every request runs, with a claim that is not held, and nothing is asked of the store', async () => {
    const events: OnceEvent[] = [];
    const claims: Claim[] = [];
    const chain = kit
      .middy()
      .use(ours((event) => void events.push(event)))
      .handler((_event, context) => {
        claims.push(claimOf(context));
        return { statusCode: 201, body: '' };
      });
    for (const parts of [{ key: 'k' }, { key: 'k' }, { key: '"malformed' }, {}]) {
      expect(await call(chain, fronts.v1({ body: 1, ...parts }))).toEqual({ statusCode: 201, body: '' });
    }
    expect(claims.map(({ held }) => held)).toEqual([false, false, false, false]);
    expect(events).toEqual(
      Array(4).fill({ type: 'bypassed', operation: 'place', reason: 'disabled' }) as OnceEvent[],
    );
  });

  test('P09: the error path is untouched', async () => {
    const own = new Error('mine');
    const chain = kit
      .middy()
      .use(ours(() => {}))
      .handler(() => Promise.reject(own));
    await expect(call(chain, fronts.v2({ key: 'k', body: 1 }))).rejects.toBe(own);
    chain.use(kit.errorHandler());
    expect(await call(chain, fronts.v2({ key: 'k', body: 1 }))).toMatchObject({ statusCode: 500 });
  });
});
