import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  QueryCommand,
  ScanCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { afterEach, expect, test, vi } from 'vitest';
import { type DynamoClient, dynamoStore } from '../../src/index.ts';
import { toRecord } from '../../src/store/dynamo/item.ts';
import { Clock } from '../support/clock.ts';
import { engineClient, freshTable } from '../support/table.ts';
import { Host, idOf, nothing, order, payments, provider, settled, sweeper } from './support.ts';

/** Order for comparing, of whatever kind. */
const byText = (one: unknown, other: unknown): number => String(one).localeCompare(String(other));

const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
afterEach(() => warned.mockClear());

/** A table made by hand: the partition key, and no index. */
async function tableWithoutIndex(): Promise<string> {
  const [client, tableName] = [engineClient(), `once-${randomUUID()}`];
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  await waitUntilTableExists(
    { client, minDelay: 0.02, maxDelay: 0.2, maxWaitTime: 20 },
    { TableName: tableName },
  );
  return tableName;
}

/** A client that looks at one item per page, so that a scan's pages come back empty where the filter keeps nothing. */
function oneByOne(): { client: DynamoClient; pages: number[] } {
  const engine = engineClient();
  const pages: number[] = [];
  return {
    pages,
    client: {
      async send(command, options) {
        if (!(command instanceof ScanCommand)) return engine.send(command, options);
        const page = await engine.send(new ScanCommand({ ...command.input, Limit: 1 }), options);
        pages.push(page.Items?.length ?? 0);
        return page;
      },
    },
  };
}

/** Twenty orders that are done, and one of each kind of open one. */
async function orders(tableName: string, clock: Clock) {
  const host = new Host();
  const psp = provider(host);
  const charge = psp.effect();
  const store = dynamoStore({ tableName, client: engineClient(), now: clock.now });
  const { pay, crash } = payments(store, { host });
  for (let index = 0; index < 20; index += 1) await pay(`done ${index}`);
  await crash('held');
  await payments(store, { onLapse: 'rerun' }).crash('rerun');
  await payments(store, { host, onLapse: 'rerun', work: (claim) => claim.perform(charge, order) }).crash(
    'charged',
  );
  psp.isUp = false;
  const failing = payments(store, { work: (claim) => claim.perform(charge, order) });
  await expect(failing.pay('open')).rejects.toThrow();
  clock.advance(settled);
  // live, so not due
  await crash('live');
  return charge;
}

test('W04: without the index the whole table is read, also over empty pages, with the same results and a warning', async () => {
  const results: unknown[] = [];
  const { client, pages } = oneByOne();
  for (const tableName of [await tableWithoutIndex(), (await freshTable()).tableName]) {
    const clock = new Clock();
    const charge = await orders(tableName, clock);
    const store = dynamoStore({ tableName, client, now: clock.now });
    const { scanned, ...report } = await sweeper({ store, effects: [charge] })();
    const { Items = [] } = await engineClient().send(new ScanCommand({ TableName: tableName }));
    const states = Items.map((item) => toRecord(item)).map((record) => [record?.id, record?.state]);
    results.push([report, states.toSorted(byText)]);
    expect(scanned).toBe(results.length === 1);
  }
  expect(results[0]).toEqual(results[1]);
  expect(results[0]).toMatchObject([
    { examined: 4, released: 3, inDoubt: 1, open: [{ id: idOf('held'), why: 'held' }] },
    { length: 25 },
  ]);
  expect(pages.length).toBeGreaterThanOrEqual(25);
  expect(pages.filter((items) => items === 0).length).toBeGreaterThan(20);
  const warnings = warned.mock.calls.map(([warning]) => String(warning));
  expect(warnings).toEqual([expect.stringContaining('no sweep index')]);
});

/** An engine that says what it is told to. */
function stub(answers: (command: QueryCommand | ScanCommand) => object): {
  client: DynamoClient;
  sent: object[];
} {
  const sent: object[] = [];
  return {
    sent,
    client: {
      async send(command) {
        if (!(command instanceof QueryCommand) && !(command instanceof ScanCommand)) return {};
        sent.push(command);
        return answers(command);
      },
    },
  };
}

test('pages of the index that are empty and go on are followed to the end, in each of the eight shards', async () => {
  const starts: unknown[] = [];
  const { client } = stub(({ input }) => {
    const shard = input.ExpressionAttributeValues?.[':shard']?.S;
    const page = Number(input.ExclusiveStartKey?.page?.N ?? 0);
    starts.push([shard, page]);
    const id = { S: `pay#${shard}-${page}` };
    return page === 3
      ? { Items: [{ id }] }
      : { ...(page === 1 ? {} : { Items: [] }), LastEvaluatedKey: { page: { N: String(page + 1) } } };
  });
  const read = vi.fn(async () => undefined);
  const store = { ...dynamoStore({ tableName: 'once', client }), read };
  expect(await sweeper({ store })()).toEqual({ ...nothing, examined: 8, skipped: 8 });
  const shards = ['0', '1', '2', '3', '4', '5', '6', '7'];
  expect(starts.toSorted(byText)).toEqual(
    shards.flatMap((shard) => [0, 1, 2, 3].map((page) => [shard, page])),
  );
  expect(read.mock.calls.map(([id]: unknown[]) => id).toSorted(byText)).toEqual(
    shards.map((shard) => `pay#${shard}-3`),
  );
});

test('an index that lags behind names records that are decided: they are read again and skipped', async () => {
  const table = await freshTable();
  const store = table.store();
  const { pay, run } = payments(store);
  await pay();
  const due: typeof store.due = async function* () {
    yield { ids: [idOf('o-1'), idOf('gone')], from: 'index' };
  };
  expect(await sweeper({ store: { ...store, due } })()).toEqual({ ...nothing, examined: 2, skipped: 2 });
  expect((await table.records())[0]).toMatchObject({ state: 'completed' });
  expect(run).toHaveBeenCalledTimes(1);
});

test.each([
  ['denied', 'AccessDeniedException', 'User is not authorized to perform dynamodb:Query on the index sweep'],
  ['missing', 'ResourceNotFoundException', 'Requested resource not found'],
  ['of another shape', 'ValidationException', 'Query condition missed key schema element: sweep'],
])('a table that is %s is not scanned instead', async (_, name, message) => {
  const { client, sent } = stub(() => {
    throw Object.assign(new Error(message), { name });
  });
  const sweep = sweeper({ store: dynamoStore({ tableName: 'once', client }) });
  await expect(sweep()).rejects.toMatchObject({ code: 'store' });
  expect(sent.map((command) => command.constructor.name)).toEqual(['QueryCommand']);
});

test('shards come in an order that changes, so that a sweep which runs out of time does not leave out the same', async () => {
  const firsts = new Set<unknown>();
  for (let pass = 0; pass < 60; pass += 1) {
    const order: unknown[] = [];
    const { client } = stub(({ input }) => {
      order.push(input.ExpressionAttributeValues?.[':shard']?.S);
      return {};
    });
    await sweeper({ store: dynamoStore({ tableName: 'once', client }) })();
    expect(new Set(order).size).toBe(8);
    firsts.add(order[0]);
  }
  expect(firsts.size).toBeGreaterThan(1);
});
