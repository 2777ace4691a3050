import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { decodeEntry } from '../../src/domain/journal.ts';
import type { OnceRecord } from '../../src/domain/record.ts';
import {
  type Claim,
  defineEffect,
  dynamoStore,
  type HttpEvent,
  idempotentHttp,
  type OnceEvent,
} from '../../src/index.ts';
import { crash, turns } from '../support/effects.ts';
import { contextWith, fronts } from '../support/http.ts';
import { lossyEngine } from '../support/lossy-proxy.ts';
import { Provider } from '../support/provider.ts';
import { freshTable } from '../support/table.ts';

const proxy = await lossyEngine();

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
});
afterEach(() => vi.unstubAllEnvs());

/** A payment over HTTP on the real engine, with our own client, through the proxy. */
async function paying() {
  const table = await freshTable();
  const provider = new Provider();
  const events: OnceEvent[] = [];
  const made: string[] = [];
  const charge = defineEffect({
    name: `charge-${randomUUID()}`,
    run: async ({ amount }: { amount: number }, { token, reference }) => {
      await reference(`psp-${token}`);
      return provider.charge(token, amount);
    },
    reconcile: (input, context) => provider.ask(input, context),
  });
  const work = async (claim: Claim): Promise<string> => {
    const quotedAt = await claim.capture('quotedAt', () => {
      made.push(randomUUID());
      return made.at(-1) ?? '';
    });
    const { chargeId } = await claim.perform(charge, { amount: 1200 });
    return `${quotedAt} ${chargeId}`;
  };
  const handler = idempotentHttp(
    async (_event: HttpEvent, _context: unknown, claim) => ({ statusCode: 201, body: await work(claim) }),
    {
      store: dynamoStore({ tableName: table.tableName, endpoint: proxy.endpoint, region: 'us-east-1' }),
      operation: 'pay',
      scope: 'none',
      observe: (event) => events.push(event),
    },
  );
  return {
    provider,
    events,
    made,
    deliver: async () =>
      (await handler(fronts.v2({ key: 'k', body: {} }), contextWith())) as {
        statusCode: number;
        body: string;
      },
    record: async () => (await table.records())[0] as OnceRecord,
    entry: async () => decodeEntry((await table.records())[0]?.effects?.[charge.name] ?? ''),
  };
}

/** The updates of a run, in order. The claim is a put. */
const updates = ['capture', 'begun', 'reference', 'done', 'complete'] as const;
const placeOf = (update: (typeof updates)[number]): number => updates.indexOf(update);

describe('a write lands, its reply is lost, and the SDK sends it again', () => {
  test.each(updates)('S02: %s: no error, no second run, nothing made twice', async (update) => {
    const { deliver, provider, events, made, record, entry } = await paying();
    proxy.on('UpdateItem', { delay: 0 }, placeOf(update));
    proxy.on('UpdateItem', 'drop-reply');
    const first = await deliver();
    expect(first).toMatchObject({ statusCode: 201, body: `${made[0]} ch-1` });
    expect(proxy.writes()).toEqual(['PutItem', ...Array(updates.length + 1).fill('UpdateItem')]);
    expect(events.map(({ type }) => type)).toEqual(['claimed', 'performed', 'completed']);
    expect({ made: made.length, charges: provider.charges.length }).toEqual({ made: 1, charges: 1 });
    expect((await record()).state).toBe('completed');
    expect(await entry()).toMatchObject({ state: 'done', reference: `psp-${provider.charges[0]?.token}` });
    const { body } = await deliver();
    expect({ body, charges: provider.charges.length }).toEqual({ body: first.body, charges: 1 });
  });
});

describe('every reply of a whole call is lost', () => {
  test.each(['done', 'complete'] as const)(
    "S02: %s: the engine's own retry finds it written",
    async (update) => {
      const { deliver, provider, made, events, record } = await paying();
      proxy.on('UpdateItem', { delay: 0 }, placeOf(update));
      proxy.on('UpdateItem', 'drop-reply', 3);
      expect(await deliver()).toMatchObject({ statusCode: 201, body: `${made[0]} ch-1` });
      expect(events.map(({ type }) => type)).toEqual(['claimed', 'performed', 'completed']);
      expect((await record()).state).toBe('completed');
      expect(provider.charges).toHaveLength(1);
    },
  );

  test.each(['capture', 'begun'] as const)(
    'S02: %s: 503, nothing was sent; the next delivery runs, with what was captured',
    async (update) => {
      const { deliver, provider, made, record } = await paying();
      proxy.on('UpdateItem', { delay: 0 }, placeOf(update));
      proxy.on('UpdateItem', 'drop-reply', 3);
      await expect(deliver()).resolves.toMatchObject({ statusCode: 503 });
      expect({ state: (await record()).state, charges: provider.charges }).toEqual({
        state: 'released',
        charges: [],
      });
      expect(await deliver()).toMatchObject({ statusCode: 201, body: `${made[0]} ch-1` });
      expect(made).toHaveLength(1);
      expect(provider).toMatchObject({ charges: [{ amount: 1200 }], questions: [] });
    },
  );

  test('S02: reference: it stays open, with the reference, and the next delivery asks by it', async () => {
    const { deliver, provider, entry } = await paying();
    proxy.on('UpdateItem', { delay: 0 }, placeOf('reference'));
    proxy.on('UpdateItem', 'drop-reply', 3);
    await expect(deliver()).rejects.toMatchObject({ code: 'store' });
    expect(await entry()).toMatchObject({ state: 'begun', reference: expect.stringMatching(/^psp-/) });
    expect(await deliver()).toMatchObject({ statusCode: 409 });
    expect(provider.questions[0]?.reference).toBe(`psp-${provider.questions[0]?.token}`);
    expect(provider.charges).toEqual([]);
  });
});

test('a "begun" that the engine sees only after the claim was let go opens nothing', async () => {
  const { deliver, provider, record, entry } = await paying();
  proxy.on('UpdateItem', { delay: 0 }, placeOf('begun'));
  // both sendings wait longer than the whole call may take
  proxy.on('UpdateItem', { delay: 2600 }, 2);
  expect(await deliver()).toMatchObject({ statusCode: 503 });
  const released = await record();
  expect(released).toMatchObject({ state: 'released' });
  expect(released.dueAt).toBeUndefined();
  await new Promise((resolve) => setTimeout(resolve, 2800));
  expect(await record()).toEqual(released);
  expect(await entry()).toMatchObject({ state: 'void' });
  expect(await deliver()).toMatchObject({ statusCode: 201 });
  expect(provider.charges).toHaveLength(1);
});

test('P11 on the real engine: interrupted in one process, found by another, done once', async () => {
  const table = await freshTable();
  const provider = new Provider();
  const clock = { now: Date.now() };
  let dies = true;
  const charge = defineEffect({
    name: 'real-charge',
    run: ({ amount }: { amount: number }, { token }) => {
      const paid = provider.charge(token, amount);
      return dies ? crash() : paid;
    },
    reconcile: (input, context) => provider.ask(input, context),
  });
  const process = () =>
    idempotentHttp(
      async (_event: HttpEvent, _context: unknown, claim) => ({
        statusCode: 201,
        body: (await claim.perform(charge, { amount: 1 })).chargeId,
      }),
      { store: table.store({ now: () => clock.now }), operation: 'pay', scope: 'none', onLapse: 'rerun' },
    );
  const event = fronts.v2({ key: 'k', body: {} });
  const context = { getRemainingTimeInMillis: () => 10_000 };
  void process()(event, context);
  while (provider.charges.length === 0) await turns();
  dies = false;
  // the deadline, the grace of two seconds and the skew
  clock.now += 15_001;
  const all = await Promise.all([process()(event, context), process()(event, context)]);
  const statuses = (all as { statusCode: number }[])
    .map(({ statusCode }) => statusCode)
    .sort((one, other) => one - other);
  // of two who find it at once one takes it over; the other is refused as busy, or sees the outcome
  expect([
    [201, 201],
    [201, 409],
  ]).toContainEqual(statuses);
  expect(await process()(event, context)).toMatchObject({ statusCode: 201, body: 'ch-1' });
  expect(provider.charges).toHaveLength(1);
});
