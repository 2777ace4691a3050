import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CreateTableCommand,
  PutItemCommand,
  ScanCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import type { Transition } from '../../src/domain/transition.ts';
import { dynamoStore } from '../../src/index.ts';
import { attribute } from '../../src/names.ts';
import { toItem } from '../../src/store/dynamo/item.ts';
import { readRequest, writeRequest } from '../../src/store/dynamo/requests.ts';
import { aimedAt, ended, limits, recordIn } from '../support/contract-records.ts';
import { engineClient, freshTable } from '../support/table.ts';

const seen = recordIn('claimed');
const resolved = { outcome: '1v1', resolvedBy: 'ops', resolvedWhy: 'because' };
const transitions: Transition[] = [
  ...Object.values(aimedAt(seen)),
  { kind: 'release', held: seen, forget: true, ...ended },
  { kind: 'resolve', seen, owner: 'judge', fence: 12, to: 'completed', ...resolved, ...ended },
];

describe('every write', () => {
  test.each(transitions)('S11: $kind names attributes through placeholders only', (transition) => {
    const { input } = writeRequest('once', transition);
    const update = 'UpdateExpression' in input ? (input.UpdateExpression ?? '') : '';
    const text = `${input.ConditionExpression} ${update}`;
    const words = text.match(/[#:]?[A-Za-z]\w*/g) ?? [];
    const names = new Set(words.filter((word) => word.startsWith('#')));
    const values = new Set(words.filter((word) => word.startsWith(':')));
    const rest = words.filter((word) => !/^[#:]/.test(word));
    const keywords = new Set(['AND', 'OR', 'IN', 'SET', 'REMOVE', 'attribute_not_exists']);
    expect(rest.filter((word) => !keywords.has(word))).toEqual([]);
    // DynamoDB refuses a placeholder that is not used and one that is not given
    expect(names).toEqual(new Set(Object.keys(input.ExpressionAttributeNames ?? {})));
    expect(values).toEqual(new Set(Object.keys(input.ExpressionAttributeValues ?? {})));
    const known: string[] = Object.values(attribute);
    const ofTheJournal = /^(?:effect|value)#/;
    const given = Object.values(input.ExpressionAttributeNames ?? {});
    expect(given.filter((name) => !known.includes(name) && !ofTheJournal.test(name))).toEqual([]);
  });

  test.each(transitions)(
    '$kind is one conditional put or update that asks for the record in its way',
    (transition) => {
      const { kind, input } = writeRequest('once', transition);
      expect(kind).toBe(transition.kind === 'claim' ? 'put' : 'update');
      expect(input).toMatchObject({ TableName: 'once', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
      expect(input.ConditionExpression).toBeTruthy();
      expect(Object.keys(input.ExpressionAttributeNames ?? {})).toEqual(expect.arrayContaining(['#fence']));
    },
  );

  test.each(transitions.filter(({ kind }) => kind !== 'claim'))(
    'S03: $kind is conditioned on owner, fence and state',
    (transition) => {
      const condition = writeRequest('once', transition).input.ConditionExpression;
      expect(condition).toMatch(/^#owner = :\w+ AND #fence = :\w+ AND #state IN \([^)]+\)(?: AND |$)/);
    },
  );

  test('S17: a read is strongly consistent', () => {
    expect(readRequest('once', 'a#b')).toEqual({
      TableName: 'once',
      Key: { id: { S: 'a#b' } },
      ConsistentRead: true,
    });
  });
});

test('nothing in src can delete an item: a release is an update', async () => {
  const source = fileURLToPath(new URL('../../src', import.meta.url));
  const files = (await readdir(source, { recursive: true })).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(30);
  for (const name of files) {
    const text = await readFile(join(source, name), 'utf8');
    expect(text, name).not.toMatch(/DeleteItem|DeleteCommand|DeleteRequest|(?<!readonly )\bDelete:/);
  }
});

test('attributes of a later version survive every update of ours', async () => {
  const table = await freshTable();
  const { client, tableName } = table;
  const journal = { M: { charge: { S: 'begun' } } };
  // what it does to a claimed record; an amendment is for completed ones
  const updates = transitions.filter(({ kind }) => kind !== 'claim' && kind !== 'amend');
  for (const transition of updates) {
    await client.send(new PutItemCommand({ TableName: tableName, Item: { ...toItem(seen), journal } }));
    expect(await table.store().write(transition, limits), transition.kind).toEqual({ kind: 'applied' });
    expect((await table.item(seen.id))?.journal, transition.kind).toEqual(journal);
  }
});

test('S12: a table with a sort key, or with another partition key, is one clear error', async () => {
  const client = engineClient();
  const shapes = [
    [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    [
      { AttributeName: 'id', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    [{ AttributeName: 'pk', KeyType: 'HASH' }],
  ] as const;
  for (const KeySchema of shapes) {
    const TableName = `other-${randomUUID()}`;
    const AttributeDefinitions = KeySchema.map(
      ({ AttributeName }) => ({ AttributeName, AttributeType: 'S' }) as const,
    );
    await client.send(
      new CreateTableCommand({
        TableName,
        KeySchema: [...KeySchema],
        AttributeDefinitions,
        BillingMode: 'PAY_PER_REQUEST',
      }),
    );
    await waitUntilTableExists({ client, minDelay: 0.02, maxWaitTime: 5 }, { TableName });
    const store = dynamoStore({ client, tableName: TableName });
    const error = {
      code: 'store',
      message: expect.stringContaining('the partition key `id` (String) and no sort key'),
    };
    await expect(store.lookup({ operation: 'o', scope: 's', key: 'k' })).rejects.toMatchObject(error);
    for (const transition of transitions) {
      await expect(store.write(transition, limits), transition.kind).rejects.toMatchObject(error);
    }
    expect((await client.send(new ScanCommand({ TableName }))).Count).toBe(0);
  }
});
