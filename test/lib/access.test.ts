import { randomUUID } from 'node:crypto';
import { CreateTableCommand, type CreateTableInput, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import type { Stack } from 'aws-cdk-lib';
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { describe, expect, test, vi } from 'vitest';
import { type OnceRole, OnceTable, type OnceTableProps } from '../../lib/index.ts';
import { dynamoStore, type Store } from '../../src/index.ts';
import { lapsed, payments, sweeper } from '../lambda/support.ts';
import { Clock } from '../support/clock.ts';
import { engineClient } from '../support/table.ts';
import { allowed, type Call, freshStack, lambda, noted, properties } from './support.ts';

const roles: readonly OnceRole[] = ['claim', 'lookup', 'inspect', 'resolve', 'sweep'];
type Given = Readonly<Record<OnceRole, readonly string[]>>;

const onTable: Given = {
  claim: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
  lookup: ['dynamodb:GetItem'],
  inspect: ['dynamodb:DescribeTable', 'dynamodb:GetItem'],
  resolve: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
  sweep: ['dynamodb:DescribeTable', 'dynamodb:GetItem', 'dynamodb:UpdateItem'],
};
/** Only these list what is open: by the index, or by a scan of a table that has none. */
const lists: readonly string[] = ['inspect', 'sweep'];

const readsKey = ['kms:Decrypt', 'kms:DescribeKey'];
const writesKey = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];
const onKey: Given = {
  claim: writesKey,
  lookup: readsKey,
  inspect: readsKey,
  resolve: writesKey,
  sweep: writesKey,
};

/** What a role is allowed on a table: by its grant, and by connecting a function, which must be the same. */
function given(role: OnceRole, propsIn: (stack: Stack) => OnceTableProps = () => ({})) {
  const stack = freshStack();
  const once = new OnceTable(stack, 'Once', propsIn(stack));
  once.connect(lambda(stack), role);
  const somebody = new Role(stack, 'Somebody', { assumedBy: new AccountRootPrincipal() });
  const grants = {
    claim: () => once.grantClaim(somebody),
    lookup: () => once.grantLookup(somebody),
    inspect: () => once.grantInspect(somebody),
    resolve: () => once.grantResolve(somebody),
    sweep: () => once.grantSweep(somebody),
  };
  grants[role]().assertSuccess();
  const granted = allowed(stack, 'Somebody');
  expect(allowed(stack, 'Handler')).toEqual(granted);
  return granted;
}

describe.each(roles)('C04: the role %s', (role) => {
  test('may do what it does on the table and its index, and nothing else', () => {
    expect(given(role)).toEqual({
      'OnceTable.Arn': onTable[role],
      ...(lists.includes(role) && { 'OnceTable.Arn/index/sweep': ['dynamodb:Query'] }),
    });
  });

  test('scans where there is no index, if it lists at all', () => {
    const scans = lists.includes(role) ? ['dynamodb:Scan'] : [];
    const { 'OnceTable.Arn': actions } = given(role, () => ({ sweepIndex: false }));
    expect(actions).toEqual([...onTable[role], ...scans].sort());
  });

  test('may use the table’s own key as far as it needs', () => {
    const { 'Key.Arn': actions } = given(role, (stack) => ({ encryptionKey: new Key(stack, 'Key') }));
    expect(actions).toEqual(onKey[role]);
  });

  test('has the same on a table, its index and its key that are imported', () => {
    const [tableArn, keyArn] = [
      'arn:aws:dynamodb:eu-central-1:111122223333:table/theirs',
      'arn:aws:kms:eu-central-1:111122223333:key/1234',
    ];
    const imported = (stack: Stack): OnceTableProps => {
      const encryptionKey = Key.fromKeyArn(stack, 'TheirKey', keyArn);
      return { table: TableV2.fromTableAttributes(stack, 'Theirs', { tableArn, encryptionKey }) };
    };
    expect(given(role, imported)).toEqual({
      [tableArn]: onTable[role],
      ...(lists.includes(role) && { [`${tableArn}/index/sweep`]: ['dynamodb:Query'] }),
      [keyArn]: onKey[role],
    });
  });
});

/** A table on the engine, as the construct makes it. */
async function deployed(props: OnceTableProps): Promise<string> {
  const stack = freshStack();
  new OnceTable(stack, 'Once', props);
  const {
    Replicas: _,
    TimeToLiveSpecification: __,
    ...made
  } = properties(stack, 'AWS::DynamoDB::GlobalTable');
  const TableName = `once-${randomUUID()}`;
  const client = engineClient();
  await client.send(new CreateTableCommand({ ...(made as CreateTableInput), TableName }));
  const soon = { minDelay: 0.02, maxDelay: 0.2, maxWaitTime: 20 };
  await waitUntilTableExists({ client, ...soon }, { TableName });
  return TableName;
}

/** What a request needs: an action, and what it is on. A transaction needs what its parts need. */
function permissions({ name, input }: Call): string[] {
  const { IndexName, TransactItems = [] } = input as { IndexName?: string; TransactItems?: object[] };
  const on = IndexName === undefined ? 'OnceTable.Arn' : `OnceTable.Arn/index/${IndexName}`;
  const parts = TransactItems.flatMap((item) => Object.keys(item)).map((kind) => `${kind}Item`);
  return (parts.length > 0 ? parts : [name]).map((action) => `dynamodb:${action} on ${on}`);
}

// a table without an index is warned of
vi.spyOn(process, 'emitWarning').mockImplementation(() => {});

const which = { operation: 'pay', scope: 'none', key: 'o-1' };

/** Everything that each role does with a store. */
const work: Record<OnceRole, (store: Store) => Promise<unknown>> = {
  async claim(store) {
    const { pay } = payments(store, { onLapse: 'rerun' });
    await Promise.all([pay('new'), pay('new').catch(() => {})]);
    const failing = payments(store, { work: () => Promise.reject(new Error('no')), onFailure: 'release' });
    await failing.pay('failing').catch(() => {});
    const unique = { unique: [['order', '7']], outbox: [{ type: 'paid', detail: {} }] };
    const committing = payments(store, { work: (claim) => claim.commit('paid', [], unique) });
    await committing.pay('commits');
    await committing.pay('clashes').catch(() => {});
  },
  lookup: async (store) => Promise.all([store.lookup(which), store.unique('#unique#pay', limits)]),
  async inspect(store) {
    await store.size?.(limits);
    const ids: string[] = [];
    for await (const page of store.due(store.now(), limits)) ids.push(...page.ids);
    expect(ids).toHaveLength(1);
    expect(await store.lookup(which)).toMatchObject({ state: 'lapsed' });
  },
  resolve: (store) => store.resolve({ ...which, by: 'ann', why: 'looked', as: 'released' }),
  async sweep(store) {
    await store.size?.(limits);
    expect(await sweeper({ store })()).toMatchObject({ examined: 1, inDoubt: 1 });
  },
};
const limits = { budget: 5000 };

describe.each([true, false])('C04: sweepIndex: %s', (sweepIndex) => {
  test.each(roles)('the runtime calls nothing that the role %s may not', async (role) => {
    const tableName = await deployed({ sweepIndex });
    const clock = new Clock();
    await payments(dynamoStore({ tableName, client: engineClient(), now: clock.now })).crash();
    clock.advance(lapsed);
    const client = engineClient();
    const calls = noted(client);
    await work[role](dynamoStore({ tableName, client, now: clock.now }));
    const needed = new Set(calls.flatMap(permissions));
    const has = Object.entries(given(role, () => ({ sweepIndex }))).flatMap(([on, actions]) =>
      actions.map((action) => `${action} on ${on}`),
    );
    expect([...needed].filter((each) => !has.includes(each))).toEqual([]);
    expect(needed.size).toBeGreaterThan(0);
  });
});
