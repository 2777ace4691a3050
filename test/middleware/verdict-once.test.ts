import { describe, expect, test, vi } from 'vitest';
import {
  bodyKey,
  type FailureVerdict,
  idempotency,
  sqsIdempotency,
  type ValueVerdict,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';
import { contextWith, fronts } from '../support/http.ts';
import { kits } from './support/middy.ts';

describe.each(kits)('the user’s verdict is asked for once per run, Middy $version', ({ middy }) => {
  const classify = vi.fn<() => ValueVerdict>();
  const onFailure = vi.fn<() => FailureVerdict>();
  const common = { store: memoryStore(), classify, onFailure };
  const http = (work: () => unknown, operation: string): Promise<unknown> => {
    const chain = middy();
    chain.use(idempotency({ ...common, operation, scope: 'none' }));
    chain.handler(async () => work());
    return chain(fronts.v2({ key: 'k', body: 1 }) as object, contextWith());
  };

  test.each(['complete', 'release', 'hold'] as const)('classify: %s', async (verdict) => {
    classify.mockReset().mockReturnValue(verdict);
    await http(() => ({ statusCode: 200, body: '' }), `classify-${verdict}`);
    expect(classify).toHaveBeenCalledTimes(1);
  });

  test.each(['record', 'release', 'hold'] as const)('onFailure: %s', async (verdict) => {
    onFailure.mockReset().mockReturnValue(verdict);
    const call = http(() => Promise.reject(new Error('no')), `failure-${verdict}`);
    await expect(call).rejects.toThrow('no');
    expect(onFailure).toHaveBeenCalledTimes(1);
  });

  test('onFailure of a record that a batch handler reports', async () => {
    onFailure.mockReset().mockReturnValue('release');
    const chain = middy();
    chain.use(sqsIdempotency({ ...common, operation: 'ship', key: bodyKey('id') }));
    chain.handler(async () => ({ batchItemFailures: [{ itemIdentifier: 'm1' }] }));
    await chain({ Records: [{ messageId: 'm1', body: '{"id":1}' }] }, contextWith());
    expect(onFailure).toHaveBeenCalledTimes(1);
  });
});
