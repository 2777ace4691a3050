import type { Context } from 'aws-lambda';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type ProviderOptions, startProvider } from '../../examples/payments/provider.ts';
import type { OnceRecord } from '../../src/domain/record.ts';
import { contextWith, fronts } from '../support/http.ts';
import { deploy } from './support.ts';

type Answer = { readonly statusCode: number; readonly body: string };

/** The example as it is deployed, beside a provider. */
async function deployed(options: ProviderOptions) {
  const table = await deploy();
  const provider = await startProvider(options);
  onTestFinished(() => provider.stop());
  vi.stubEnv('PAYMENTS_URL', provider.url);
  const { handler, sweep } = await import('../../examples/effect.ts');
  const body = { amount: 1200, currency: 'EUR' };
  const event = fronts.v2({ key: 'k', body });
  const request = {
    ...event,
    requestContext: { ...event.requestContext, authorizer: { lambda: { tenant: 'acme' } } },
  };
  const pay = async (): Promise<Answer> =>
    (await (handler as unknown as (event: object, context: Context) => Promise<unknown>)(
      request,
      contextWith() as Context,
    )) as Answer;
  /** As if the process had died long ago: the lease of whoever holds the record is over, and so is its effects'. */
  const age = async (record: OnceRecord, milliseconds: number): Promise<void> => {
    const text = JSON.stringify(record).replaceAll(
      /(\\?"(?:until|leaseUntil|dueAt)\\?":)(\d+)/g,
      (_all, name: string, time: string) => `${name}${Number(time) - milliseconds}`,
    );
    await table.put(JSON.parse(text) as OnceRecord);
  };
  return { table, provider, pay, sweep, age };
}

test.each(['merged', 'ignored'] as const)(
  'a charge is made once where the provider has keys %s',
  async (keys) => {
    const { provider, pay } = await deployed({ keys });
    const first = await pay();
    expect(first.statusCode).toBe(201);
    expect((await pay()).body).toBe(first.body);
    expect(provider.ledger().charges).toHaveLength(1);
  },
);

test('the answer of the charge is lost: the retry finds the charge, and charges no second time', async () => {
  const { table, provider, pay } = await deployed({ keys: 'ignored' });
  provider.on('charge', 'drop-after');
  await expect(pay()).rejects.toThrow();
  expect(await table.records()).toMatchObject([{ state: 'released' }]);
  const retry = await pay();
  expect(retry.statusCode).toBe(201);
  expect(JSON.parse(retry.body).chargeId).toBe(provider.ledger().charges[0]?.chargeId);
  expect(provider.ledger().charges).toHaveLength(1);
});

test('nobody retries: the sweeper asks, and the order is free to be finished', async () => {
  const { table, provider, pay, sweep, age } = await deployed({ keys: 'ignored' });
  provider.on('charge', 'drop-after');
  await expect(pay()).rejects.toThrow();
  vi.spyOn(console, 'log').mockReturnValue();
  const [record] = await table.records();
  await age(record as OnceRecord, 120_000);
  expect(await sweep()).toMatchObject({ examined: 1, released: 1, inDoubt: 0, open: [] });
  expect(await table.records()).toMatchObject([{ state: 'released', resolvedBy: 'sweeper' }]);
  expect((await pay()).statusCode).toBe(201);
  expect(provider.ledger().charges).toHaveLength(1);
});

test('the provider cannot tell: in doubt and told so, until it can', async () => {
  const { provider, pay, table, sweep, age } = await deployed({ keys: 'ignored' });
  provider.on('charge', 'drop-before');
  provider.on('find', 'unavailable', 2);
  await expect(pay()).rejects.toThrow();
  expect(JSON.parse((await pay()).body)).toMatchObject({ code: 'in-doubt' });
  vi.spyOn(console, 'log').mockReturnValue();
  const [record] = await table.records();
  await age(record as OnceRecord, 120_000);
  expect(await sweep()).toMatchObject({
    inDoubt: 1,
    open: [{ operation: 'pay-order', why: 'failed', effect: 'charge-card' }],
  });
  expect((await pay()).statusCode).toBe(201);
  expect(provider.ledger().charges).toHaveLength(1);
});
