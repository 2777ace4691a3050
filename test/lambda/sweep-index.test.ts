import {
  BatchWriteItemCommand,
  QueryCommand,
  type QueryCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import type { OnceRecord } from '../../src/domain/record.ts';
import { shardOf } from '../../src/domain/shard.ts';
import { type Item, toItem } from '../../src/store/dynamo/item.ts';
import { Clock } from '../support/clock.ts';
import { freshTable } from '../support/table.ts';
import { Host, idOf, lapsed, minute, nothing, order, payments, provider, sweeper } from './support.ts';

async function onEngine() {
  const [table, clock] = [await freshTable(), new Clock()];
  /** What the index holds of an order, read as the sweeper does not: all of its shard. */
  const indexed = async (name: string): Promise<Item | undefined> => {
    const { Items }: QueryCommandOutput = await table.client.send(
      new QueryCommand({
        TableName: table.tableName,
        IndexName: 'sweep',
        KeyConditionExpression: 'sweep = :shard',
        ExpressionAttributeValues: { ':shard': { S: shardOf(idOf(name)) } },
      }),
    );
    return Items?.find(({ id }) => id?.S === idOf(name));
  };
  const item = (name: string): Promise<Item | undefined> => table.item(idOf(name));
  return { table, clock, store: table.store({ now: clock.now }), indexed, item };
}

test('W04: a claim is in the index, by its shard and when it lapses; completion takes it out in the same write', async () => {
  const { store, clock, indexed, item } = await onEngine();
  let during: unknown[] = [];
  const { pay } = payments(store, {
    work: async () => {
      during = [await item('o-1'), await indexed('o-1')];
      return 'paid';
    },
  });
  await pay();
  const entry = {
    id: { S: idOf('o-1') },
    sweep: { S: shardOf(idOf('o-1')) },
    dueAt: { N: String(clock.now() + lapsed - 1) },
  };
  expect(during).toEqual([expect.objectContaining({ ...entry, state: { S: 'claimed' } }), entry]);
  expect(await item('o-1')).toMatchObject({ state: { S: 'completed' } });
  expect(await item('o-1')).not.toHaveProperty('sweep');
  expect(await item('o-1')).not.toHaveProperty('dueAt');
  expect(await indexed('o-1')).toBeUndefined();
});

test('W04: a release takes it out as well, unless an effect is open', async () => {
  const { store, clock, indexed, item } = await onEngine();
  const psp = provider(new Host());
  psp.isUp = false;
  const charge = psp.effect();
  const plain = payments(store, { work: () => Promise.reject(new Error('no')) });
  const open = payments(store, { work: (claim) => claim.perform(charge, order) });
  await expect(plain.pay('plain')).rejects.toThrow('no');
  await expect(open.pay('open')).rejects.toThrow('connection lost');
  expect(await item('plain')).toMatchObject({ state: { S: 'released' } });
  expect(await item('plain')).not.toHaveProperty('sweep');
  expect(await item('plain')).not.toHaveProperty('dueAt');
  expect(await indexed('plain')).toBeUndefined();
  expect(await item('open')).toMatchObject({ state: { S: 'released' }, sweep: { S: shardOf(idOf('open')) } });
  expect(await indexed('open')).toMatchObject({ dueAt: { N: String(clock.now() + 3000 + minute) } });
});

test('W04: it stays in while it is in doubt, at its next look, and is out when it was resolved', async () => {
  const { store, clock, indexed, item } = await onEngine();
  await payments(store).crash();
  clock.advance(lapsed);
  await sweeper({ store })();
  expect(await indexed('o-1')).toMatchObject({ dueAt: { N: String(clock.now() + minute) } });
  const decided = { operation: 'pay', scope: 'none', key: 'o-1', by: 'ops', why: 'seen' };
  await store.resolve({ ...decided, as: 'completed', value: 1 });
  expect(await item('o-1')).not.toHaveProperty('sweep');
  expect(await indexed('o-1')).toBeUndefined();
});

test('what a sweep decides leaves the index, and the next pass finds nothing', async () => {
  const { store, clock, indexed } = await onEngine();
  const reconcile = () => ({ found: 1 });
  await payments(store, { onLapse: 'rerun' }).crash('released');
  await payments(store, { onLapse: reconcile }).crash('completed');
  clock.advance(lapsed);
  const sweep = sweeper({ store, operations: { pay: reconcile } });
  expect(await sweep()).toMatchObject({ examined: 2, completed: 2 });
  expect([await indexed('released'), await indexed('completed')]).toEqual([undefined, undefined]);
  expect(await sweep()).toEqual(nothing);
});

test('more due records in one shard than a page holds, beside one in each other shard: all are found', async () => {
  const { table, store, clock } = await onEngine();
  const names = Array.from({ length: 3000 }, (_, index) => `o-${index}`);
  const crowded = names.filter((name) => shardOf(idOf(name)) === '3').slice(0, 230);
  const others = ['0', '1', '2', '4', '5', '6', '7'].map((shard) =>
    names.find((name) => shardOf(idOf(name)) === shard),
  );
  const claimedAt = clock.now();
  const requests = [...crowded, ...(others as string[])].map((name): WriteRequest => {
    const record: OnceRecord = {
      id: idOf(name),
      state: 'claimed',
      owner: 'gone',
      fence: 1,
      attempt: 1,
      claimedAt,
      leaseUntil: claimedAt + 1000,
      dueAt: claimedAt + 4000,
      expiresAt: Math.ceil(claimedAt / 1000) + 3600,
      onLapse: 'rerun',
    };
    return { PutRequest: { Item: toItem(record) } };
  });
  expect(crowded).toHaveLength(230);
  for (let start = 0; start < requests.length; start += 25) {
    const batch = requests.slice(start, start + 25);
    await table.client.send(new BatchWriteItemCommand({ RequestItems: { [table.tableName]: batch } }));
  }
  clock.advance(minute);
  const pages: number[] = [];
  const due: typeof store.due = async function* (before, limits) {
    for await (const page of store.due(before, limits)) {
      pages.push(page.ids.length);
      yield page;
    }
  };
  const report = await sweeper({ store: { ...store, due }, concurrency: 20 })();
  expect(report).toEqual({ ...nothing, examined: 237, released: 237 });
  expect(Math.max(...pages)).toBeLessThanOrEqual(100);
});
