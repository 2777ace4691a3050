import { randomUUID } from 'node:crypto';
import middy from '@middy/core';
import cors from '@middy/http-cors';
import { expect } from 'vitest';
import { claimOf, idempotency, idempotentHttp } from '../../src/index.ts';
import { contextWith, fronts } from '../support/http.ts';
import { lossyEngine } from '../support/lossy-proxy.ts';
import { orders, transactional as test } from '../support/orders.ts';
import { engineClient } from '../support/table.ts';

const proxy = await lossyEngine();
const shaped = { 'Access-Control-Allow-Origin': 'https://shop.example' };

/** A chain with CORS, in both documented orders: the hooks above it, or the handler's seat below. */
async function chain(how: 'hooks' | 'seat') {
  const { once, put, orders: count } = await orders(proxy);
  const options = {
    store: once.store({ client: engineClient(proxy.endpoint) }),
    operation: `commit-${randomUUID()}`,
    scope: 'none',
  } as const;
  const answer = { statusCode: 201, headers: { Location: '/o-1' }, body: '{}' };
  const headers = cors({ origin: 'https://shop.example' });
  const handler =
    how === 'hooks'
      ? middy()
          .use(idempotency(options) as middy.MiddlewareObj)
          .use(headers)
          .handler(async (_event, context) => claimOf(context).commit(answer, [put('o-1')]))
      : middy(
          idempotentHttp(
            async (_event: object, _context: unknown, claim) => claim.commit(answer, [put('o-1')]),
            options,
          ) as never,
        ).use(headers);
  const deliver = async () =>
    (await (handler as (event: object, context: object) => Promise<unknown>)(
      { ...fronts.v2({ key: 'k', body: {} }), requestContext: { http: { method: 'POST', path: '/' } } },
      contextWith(),
    )) as { headers: object };
  return { deliver, count };
}

test.each([
  ['hooks', ['PutItem', 'TransactWriteItems', 'UpdateItem']],
  ['seat', ['PutItem', 'TransactWriteItems']],
] as const)(
  '%s: the answer that left, CORS headers and all, is the one that replays',
  async (how, requests) => {
    const { deliver, count } = await chain(how);
    const first = await deliver();
    expect(proxy.operations()).toEqual(requests);
    expect(first).toMatchObject({ statusCode: 201, headers: { Location: '/o-1', ...shaped } });
    const again = await deliver();
    expect(again).toEqual({ ...first, headers: { ...first.headers, 'Idempotency-Replayed': 'true' } });
    expect(await count()).toBe(1);
  },
);
