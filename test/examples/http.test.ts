import type { Context } from 'aws-lambda';
import { describe, expect, test, vi } from 'vitest';
import { invoicing } from '../../examples/function.ts';
import { memoryStore } from '../../src/testing.ts';
import { problemIn } from '../middleware/support/middy.ts';
import { contextWith, fronts } from '../support/http.ts';
import { deploy } from './support.ts';

interface Answer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const request = (tenant: string, key: string | undefined, body: object) => {
  const event = fronts.v2({
    body,
    ...(key !== undefined && { key }),
    headers: { origin: 'https://shop.example' },
  });
  return { ...event, requestContext: { ...event.requestContext, authorizer: { lambda: { tenant } } } };
};

/** A request in, an answer out, whatever the example's types say. */
const through = (handler: unknown) => async (tenant: string, key: string | undefined, body: object) =>
  (await (handler as (event: object, context: Context) => Promise<unknown>)(
    request(tenant, key, body),
    contextWith() as Context,
  )) as Answer;

describe.each([
  ['examples/http.ts', async () => (await import('../../examples/http.ts')).handler],
  ['examples/middy.ts', async () => (await import('../../examples/middy.ts')).handler],
])('%s', (_name, load) => {
  test('an order is placed once per tenant and key, and answered alike every time', async () => {
    const table = await deploy();
    const place = through(await load());
    const order = { sku: 'a', amount: 1 };
    const first = await place('acme', 'k', order);
    expect(first.statusCode).toBe(201);
    const again = await place('acme', 'k', { amount: 1.0, sku: 'a' });
    expect(again).toEqual({ ...first, headers: { ...first.headers, 'Idempotency-Replayed': 'true' } });
    expect((await place('other', 'k', order)).statusCode).toBe(201);
    expect((await table.records()).map(({ state }) => state)).toEqual(['completed', 'completed']);
  });

  test('another order under that key, and no key at all, are refused', async () => {
    await deploy();
    const place = through(await load());
    await place('acme', 'k', { amount: 1 });
    const reused = await place('acme', 'k', { amount: 2 });
    expect(reused.statusCode).toBe(422);
    expect(problemIn(reused).code).toBe('key-reused');
    expect((await place('acme', undefined, { amount: 2 })).statusCode).toBe(400);
  });
});

test('examples/http.ts: the retry gets the first order’s id', async () => {
  await deploy();
  const place = through((await import('../../examples/http.ts')).handler);
  const [first, again] = [await place('acme', 'k', { sku: 'a' }), await place('acme', 'k', { sku: 'a' })];
  expect(first.headers?.Location).toMatch(/^\/orders\/[0-9a-f-]{36}$/);
  expect(again.headers?.Location).toBe(first.headers?.Location);
  expect(again.body).toBe(first.body);
});

test('examples/middy.ts: browsers may read the answer and its mark, on refusals as well', async () => {
  await deploy();
  const place = through((await import('../../examples/middy.ts')).handler);
  const first = await place('acme', 'k', { amount: 1 });
  expect(JSON.parse(first.body)).toEqual({ order: { amount: 1 }, attempt: 1 });
  const all = [first, await place('acme', 'k', { amount: 1 }), await place('acme', 'k', { amount: 2 })];
  for (const { headers } of all.slice(0, 2)) {
    expect(headers).toMatchObject({
      'Access-Control-Allow-Origin': 'https://shop.example',
      'Access-Control-Expose-Headers': 'Idempotency-Replayed',
    });
  }
  expect(all.map(({ statusCode }) => statusCode)).toEqual([201, 201, 422]);
});

test('examples/function.ts: an invoice is sent once', async () => {
  const mailer = { send: vi.fn(async ({ id }: { id: string }) => ({ messageId: `mail-${id}` })) };
  const sendInvoice = invoicing(memoryStore(), mailer);
  const order = { id: 'o1', total: 5 };
  expect(await sendInvoice(order)).toEqual({ messageId: 'mail-o1' });
  expect(await sendInvoice({ ...order })).toEqual({ messageId: 'mail-o1' });
  await expect(sendInvoice({ ...order, total: 6 })).rejects.toMatchObject({ code: 'key-reused' });
  expect(mailer.send).toHaveBeenCalledTimes(1);
});
