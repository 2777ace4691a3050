import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { sweepIndex } from '../src/names.ts';

/**
 * What somebody does with the table. `claim`: handlers, `claim.commit` included. `lookup`: the status handler. `inspect`: people
 * and dashboards that also list what is open. `resolve`: people who settle by hand. `sweep`: the sweeper.
 */
export type OnceRole = 'claim' | 'lookup' | 'inspect' | 'resolve' | 'sweep';

interface Access {
  /** On the table. */
  readonly table: readonly string[];
  /** Lists what is due: `Query` on the sweep index, and `Scan` of a table that turns out to have none. */
  readonly lists: boolean;
  readonly writes: boolean;
}

/**
 * The calls that the runtime makes, and no others. A transaction needs no action of its own: DynamoDB checks those of its parts.
 * Nothing is ever deleted: a release is an update, and TTL needs no permission.
 */
export const access: Readonly<Record<OnceRole, Access>> = {
  claim: {
    table: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    lists: false,
    writes: true,
  },
  lookup: { table: ['dynamodb:GetItem'], lists: false, writes: false },
  inspect: { table: ['dynamodb:DescribeTable', 'dynamodb:GetItem'], lists: true, writes: false },
  resolve: { table: ['dynamodb:GetItem', 'dynamodb:UpdateItem'], lists: false, writes: true },
  sweep: {
    table: ['dynamodb:DescribeTable', 'dynamodb:GetItem', 'dynamodb:UpdateItem'],
    lists: true,
    writes: true,
  },
};

/** What a customer's key must allow, spelled out: no wildcard passes a review. */
const keyActions = {
  read: ['kms:Decrypt', 'kms:DescribeKey'],
  write: [
    'kms:Encrypt',
    'kms:GenerateDataKey',
    'kms:GenerateDataKeyWithoutPlaintext',
    'kms:ReEncryptFrom',
    'kms:ReEncryptTo',
  ],
};

/** Gives a principal one role on the table, its sweep index and its key: by ARN, so that it works for imported tables as well. */
export function grantRole(grantee: IGrantable, role: OnceRole, table: ITable, hasIndex: boolean): Grant {
  const { table: actions, lists, writes } = access[role];
  const onTable = lists && !hasIndex ? [...actions, 'dynamodb:Scan'] : [...actions];
  let grant = Grant.addToPrincipal({ grantee, actions: onTable, resourceArns: [table.tableArn] });
  if (lists) {
    const resourceArns = [`${table.tableArn}/index/${sweepIndex.name}`];
    grant = grant.combine(Grant.addToPrincipal({ grantee, actions: ['dynamodb:Query'], resourceArns }));
  }
  const forKey = writes ? [...keyActions.read, ...keyActions.write] : keyActions.read;
  const onKey = table.encryptionKey?.grant(grantee, ...forKey);
  return onKey === undefined ? grant : grant.combine(onKey);
}
