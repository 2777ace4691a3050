import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { expect, vi } from 'vitest';
import { companionPrefix } from '../../src/names.ts';
import { contextWith, fronts } from '../support/http.ts';
import { transactional as test } from '../support/orders.ts';
import { freshTable } from '../support/table.ts';
import { deploy } from './support.ts';

type Answer = { readonly statusCode: number; readonly body: string; readonly headers?: object };
type Handler = (event: object, context: Context) => Promise<unknown>;

/** The example beside an account of 100, and its status page. */
async function bank() {
  const once = await deploy();
  const accounts = await freshTable();
  await accounts.client.send(
    new PutItemCommand({
      TableName: accounts.tableName,
      Item: { id: { S: 'acct-1' }, balance: { N: '100' } },
    }),
  );
  vi.stubEnv('ACCOUNTS_TABLE', accounts.tableName);
  const { handler } = await import('../../examples/commit.ts');
  const { handler: status } = await import('../../examples/status.ts');
  const send = async (to: unknown, parts: object, tenant: string, query?: object): Promise<Answer> => {
    const event = fronts.v2(parts as never);
    const authorizer = { lambda: { tenant } };
    const more = query === undefined ? {} : { queryStringParameters: query };
    const request = { ...event, ...more, requestContext: { ...event.requestContext, authorizer } };
    return (await (to as Handler)(request, contextWith() as Context)) as Answer;
  };
  return {
    once,
    balance: async () => Number((await accounts.item('acct-1'))?.balance?.N),
    withdraw: (key: string, amount: number, reference: string, tenant = 'acme') =>
      send(handler, { key, body: { account: 'acct-1', amount, reference } }, tenant),
    ask: (query: object, tenant = 'acme') => send(status, { method: 'GET' }, tenant, query),
  };
}

test('a withdrawal happens once, with its mail, and its reference is taken for good', async () => {
  const { withdraw, balance, once, ask } = await bank();
  const first = await withdraw('k', 30, 'ext-9');
  expect(first.statusCode).toBe(201);
  expect(await withdraw('k', 30, 'ext-9')).toMatchObject({
    body: first.body,
    headers: { 'Idempotency-Replayed': 'true' },
  });
  const late = await withdraw('another key', 30, 'ext-9');
  expect(late.statusCode).toBe(409);
  expect(JSON.parse(late.body)).toMatchObject({
    code: 'already-applied',
    reference: JSON.parse(first.body).id,
  });
  expect(await balance()).toBe(70);
  const outbox = (await once.items()).filter(({ id }) => id?.S?.startsWith(companionPrefix.outbox));
  expect(outbox.map(({ events }) => JSON.parse(events?.S ?? ''))).toMatchObject([[{ type: 'withdrawn' }]]);
  const told = JSON.parse((await ask({ account: 'acct-1', reference: 'ext-9' })).body);
  expect(told).toMatchObject({ status: 'completed', reference: JSON.parse(first.body).id });
  expect((await ask({ account: 'acct-1', reference: 'ext-9' }, 'globex')).statusCode).toBe(404);
});

test('insufficient funds are an answer that replays, and nothing else happens', async () => {
  const { withdraw, balance, once } = await bank();
  const refused = await withdraw('k', 300, 'ext-9');
  expect(refused.statusCode).toBe(402);
  expect((await withdraw('k', 300, 'ext-9')).statusCode).toBe(402);
  expect(await balance()).toBe(100);
  expect(await once.items()).toHaveLength(1);
});
