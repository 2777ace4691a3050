import { randomUUID } from 'node:crypto';
import { RemovalPolicy } from 'aws-cdk-lib';
import type { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { expect, test } from 'vitest';
import { OnceTable, type OnceTableProps } from '../../lib/index.ts';
import { idempotent } from '../../src/index.ts';
import { attribute, metric } from '../../src/names.ts';
import { createOnceTable } from '../../src/testing.ts';
import { engineClient, freshTable } from '../support/table.ts';
import { freshStack, lambda, noted, properties, resource, seen, text } from './support.ts';

const type = 'AWS::DynamoDB::GlobalTable';

/** A table's resource. */
function made(props: OnceTableProps = {}) {
  const stack = freshStack();
  new OnceTable(stack, 'Once', props);
  return resource(stack, type);
}

test('the table is paid by use, recovers to any second, cannot be deleted and outlives its stack', () => {
  const { Properties, DeletionPolicy, UpdateReplacePolicy } = made();
  expect(Properties).toMatchObject({
    BillingMode: 'PAY_PER_REQUEST',
    Replicas: [
      {
        Region: 'eu-central-1',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    ],
  });
  expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['Retain', 'Retain']);
  for (const name of ['TableName', 'StreamSpecification', 'SSESpecification', 'WarmThroughput'])
    expect(Properties).not.toHaveProperty(name);
});

test('C02: it is the table that createOnceTable makes: same keys, same index, same attribute for TTL', async () => {
  const client = engineClient();
  const calls = noted(client);
  await createOnceTable({ client, tableName: `once-${randomUUID()}` });
  const asked = Object.fromEntries(calls.map(({ name, input }) => [name, input]));
  const { Properties } = made();
  const keys = ['BillingMode', 'AttributeDefinitions', 'KeySchema', 'GlobalSecondaryIndexes'];
  for (const key of keys) expect(asked.CreateTable).toHaveProperty(key, Properties[key]);
  expect(asked.UpdateTimeToLive).toMatchObject({
    TimeToLiveSpecification: Properties.TimeToLiveSpecification,
  });
});

test('C02: what the store writes expires by the attribute that TTL reads, in seconds', async () => {
  const table = await freshTable();
  const retention = { days: 3 };
  const once = idempotent(async () => 'done', {
    store: table.store(),
    operation: 'pay',
    key: () => 'a',
    retention,
  });
  await once({});
  const { AttributeName, Enabled } = made().Properties.TimeToLiveSpecification;
  expect([AttributeName, Enabled]).toEqual([attribute.expiresAt, true]);
  const [item] = await table.items();
  const seconds = Number(item?.[AttributeName]?.N);
  expect(Math.abs(seconds - Date.now() / 1000 - 3 * 24 * 3600)).toBeLessThan(60);
});

test('the sweep index is sparse and holds keys only; without it the table has none', () => {
  expect(made().Properties.GlobalSecondaryIndexes).toEqual([
    {
      IndexName: 'sweep',
      KeySchema: [
        { AttributeName: attribute.sweep, KeyType: 'HASH' },
        { AttributeName: attribute.dueAt, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ]);
  const { Properties } = made({ sweepIndex: false });
  expect(Properties).not.toHaveProperty('GlobalSecondaryIndexes');
  expect(Properties.AttributeDefinitions).toEqual([{ AttributeName: attribute.id, AttributeType: 'S' }]);
});

test.each<[OnceTableProps, object]>([
  [{ tableName: 'once' }, { TableName: 'once' }],
  [{ stream: true }, { StreamSpecification: { StreamViewType: 'NEW_IMAGE' } }],
  [
    { pointInTimeRecovery: false },
    replica({ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false } }),
  ],
  [{ deletionProtection: false }, replica({ DeletionProtectionEnabled: false })],
  [
    { warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4000 } },
    { WarmThroughput: { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 4000 } },
  ],
])('%j is passed on', (props, expected) => {
  expect(made(props).Properties).toMatchObject(expected);
});

function replica(part: object): object {
  return { Replicas: [part] };
}

test('a table for a test may go with its stack', () => {
  const { DeletionPolicy, UpdateReplacePolicy } = made({ removalPolicy: RemovalPolicy.DESTROY });
  expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['Delete', 'Delete']);
});

test('a key of one’s own encrypts the table', () => {
  const stack = freshStack();
  new OnceTable(stack, 'Once', { encryptionKey: new Key(stack, 'Key') });
  const { SSESpecification, Replicas } = properties(stack, type);
  expect(SSESpecification).toEqual({ SSEEnabled: true, SSEType: 'KMS' });
  expect(text(Replicas[0].SSESpecification.KMSMasterKeyId)).toBe('Key.Arn');
});

const home = /two Regions both win the same claim and the last writer stays.* Give each key one home Region/;

test.each([
  ['replicas', home],
  ['multiRegionConsistency', home],
  ['witnessRegion', home],
  ['globalTableSettingsReplicationMode', home],
  ['timeToLiveAttribute', /the same in every version/],
  ['partitionKey', /the runtime’s own/],
  ['sortKey', /a record is one item/],
  ['sweepindex', /it takes tableName, sweepIndex, stream, /],
  ['billing', /it takes tableName, sweepIndex, stream, /],
])('S18, C02: the option %s is refused, and the error says why', (option, why) => {
  const make = () => made({ [option]: undefined } as OnceTableProps);
  expect(make).toThrow(`OnceTable: the option "${option}" is not accepted: `);
  expect(make).toThrow(why);
});

test('S18: a replica that somebody adds later fails the synth', () => {
  const stack = freshStack();
  const { table } = new OnceTable(stack, 'Once');
  (table as TableV2).addReplica({ region: 'eu-west-1' });
  expect(() => properties(stack, type)).toThrow(home);
});

test('S18: a table with replicas is refused as an existing one, too', () => {
  const stack = freshStack();
  const partitionKey = { name: 'id', type: AttributeType.STRING };
  const table = new TableV2(stack, 'Theirs', { partitionKey, replicas: [{ region: 'eu-west-1' }] });
  expect(() => {
    new OnceTable(stack, 'Once', { table });
    properties(stack, type);
  }).toThrow(home);
});

test('an existing table is taken as it is: no other table is made, and only its index may be told', () => {
  const stack = freshStack();
  const table = TableV2.fromTableName(stack, 'Theirs', 'theirs');
  const once = new OnceTable(stack, 'Once', { table, sweepIndex: false });
  expect([once.table, once.tableName, once.hasSweepIndex]).toEqual([table, 'theirs', false]);
  expect(once.node.children).toEqual([]);
  for (const option of ['tableName', 'stream', 'encryptionKey', 'removalPolicy', 'deletionProtection']) {
    const make = () => new OnceTable(stack, option, { table, [option]: undefined } as OnceTableProps);
    expect(make).toThrow(`the option "${option}" is not accepted: it takes table, sweepIndex.`);
  }
});

test('connect tells the function which table', () => {
  const stack = freshStack();
  const once = new OnceTable(stack, 'Once');
  expect(once.connect(lambda(stack))).toBe(once);
  const { Variables } = properties(stack, 'AWS::Lambda::Function').Environment;
  expect(Object.entries(Variables).map(([name, value]) => [name, text(value)])).toEqual([
    ['LAMBDA_ONCE_TABLE', 'OnceTable'],
  ]);
});

test('C05: each metric is a sum of the runtime’s, of the table over all operations or of one', () => {
  const stack = freshStack();
  const once = new OnceTable(stack, 'Once');
  const metrics = {
    [metric.claims]: once.metricClaims(),
    [metric.completions]: once.metricCompletions(),
    [metric.releases]: once.metricReleases(),
    [metric.holds]: once.metricHolds(),
    [metric.replays]: once.metricReplays(),
    [metric.busy]: once.metricBusy(),
    [metric.mismatches]: once.metricMismatches(),
    [metric.inDoubt]: once.metricInDoubt(),
    [metric.leasesLost]: once.metricLeasesLost(),
    [metric.storeFailures]: once.metricStoreFailures(),
    [metric.completionFailures]: once.metricCompletionFailures(),
    [metric.notKept]: once.metric('NotKept'),
  };
  for (const [name, each] of Object.entries(metrics))
    expect(seen(stack, each)).toEqual(['LambdaOnce', name, 'Sum', 'table', 'OnceTable']);
  const ofPay = ['table', 'OnceTable', 'operation', 'pay'];
  const highest = once.metricClaims({ operation: 'pay', statistic: 'Maximum' });
  expect(seen(stack, highest)).toEqual(['LambdaOnce', 'Claims', 'Maximum', ...ofPay]);
  const { usingMetrics }: MathExpression = once.metricReplayRate({ operation: 'pay' });
  expect(Object.values(usingMetrics).map((each) => seen(stack, each as Metric))).toEqual([
    ['LambdaOnce', 'Claims', 'Sum', ...ofPay],
    ['LambdaOnce', 'Replays', 'Sum', ...ofPay],
  ]);
});
