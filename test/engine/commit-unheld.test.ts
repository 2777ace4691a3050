import { afterEach, expect, vi } from 'vitest';
import { idempotentHttp } from '../../src/index.ts';
import { companionPrefix } from '../../src/names.ts';
import { contextWith, fronts } from '../support/http.ts';
import { orders, transactional as test } from '../support/orders.ts';

afterEach(() => vi.unstubAllEnvs());

test('switched off, the caller’s writes and the outbox still happen together; nothing is recorded', async () => {
  vi.stubEnv('LAMBDA_ONCE_DISABLED', 'true');
  const { wrap, put, once, record, orders: count } = await orders();
  const place = wrap((claim) =>
    claim.commit('placed', [put('o-1')], { unique: [['a']], outbox: [{ type: 'placed', detail: 1 }] }),
  );
  expect(await place({ id: 'o-1' })).toBe('placed');
  expect(await place({ id: 'o-1' })).toBe('placed');
  expect(await count()).toBe(1);
  expect(await record()).toBeUndefined();
  const ids = (await once.items()).map(({ id }) => id?.S ?? '');
  expect(ids.every((id) => id.startsWith(companionPrefix.outbox))).toBe(true);
  expect(ids).toHaveLength(2);
});

test('a condition of the caller’s own is told there as well', async () => {
  vi.stubEnv('LAMBDA_ONCE_DISABLED', 'true');
  const { wrap, put, orders: count } = await orders();
  const clash = { Put: { ...put('o-1').Put, ConditionExpression: 'attribute_exists(id)' } };
  await expect(wrap((claim) => claim.commit(1, [put('o-2'), clash]))({ id: 'a' })).rejects.toMatchObject({
    name: 'CommitRefused',
    index: 1,
  });
  expect(await count()).toBe(0);
});

test('a safe method commits without a record', async () => {
  const { once, put, operation, orders: count } = await orders();
  const handler = idempotentHttp(
    async (_event: object, _context: unknown, claim) => claim.commit({ statusCode: 200 }, [put('seen')]),
    { store: once.store(), operation, scope: 'none' },
  );
  expect(await handler(fronts.v2({ method: 'GET', key: 'k' }), contextWith())).toEqual({ statusCode: 200 });
  expect(await count()).toBe(1);
  expect(await once.items()).toEqual([]);
});
