import type {
  AttributeValue,
  CancellationReason,
  TransactWriteItem,
  TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { Outgoing, Unique } from '../../domain/companion.ts';
import type { OnceRecord } from '../../domain/record.ts';
import { appliedByMe, targetOf } from '../../domain/transition.ts';
import { IdempotencyError } from '../../errors.ts';
import { companion } from '../../names.ts';
import { type Commit, type Committed, mostActions, mostBytes } from '../commit.ts';
import { type Item, toAttribute, toRecord } from './item.ts';
import { writeRequest } from './requests.ts';
import { tidyItem, toWireAction, type WireAction } from './write-action.ts';

/** A transaction on its way: ours first, then uniqueness, then the outbox, then the caller's. */
export interface Transaction {
  readonly input: TransactWriteItemsCommandInput;
  readonly writes: readonly WireAction[];
}

/**
 * Builds the transaction, and sends nothing.
 *
 * @throws IdempotencyError `input-invalid`, `options`: nothing was written
 */
export async function transaction(tableName: string, commit: Commit): Promise<Transaction> {
  const { token, transition, uniques, outgoing, writes } = commit;
  const wire = await Promise.all(writes.map(toWireAction));
  const items: TransactWriteItem[] = [
    ...(transition === undefined ? [] : [ourItem(tableName, transition)]),
    ...uniques.map((unique) => putOnce(tableName, unique)),
    ...outgoing.map((each) => ({ Put: { TableName: tableName, Item: companionItem(each) } })),
    ...wire.map(({ action }) => action),
  ];
  if (transition !== undefined) refuseOwnRecord(tableName, targetOf(transition), wire);
  refuseTooMuch(items, wire.length);
  return { input: { ClientRequestToken: token, TransactItems: items }, writes: wire };
}

function ourItem(tableName: string, transition: NonNullable<Commit['transition']>): TransactWriteItem {
  const { kind, input } = writeRequest(tableName, transition);
  return kind === 'put' ? { Put: input } : { Update: input as NonNullable<TransactWriteItem['Update']> };
}

/** The existing item tells whether it is the same thing once more. */
function putOnce(TableName: string, unique: Unique): TransactWriteItem {
  return {
    Put: {
      TableName,
      Item: companionItem(unique),
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}

function companionItem({ id, ...facts }: Unique | Outgoing): Item {
  const given = Object.entries(facts).filter(([, value]) => value !== undefined);
  return Object.fromEntries([
    ['id', toAttribute(id)],
    ...given.map(([name, value]) => [
      companion[name as keyof typeof companion],
      toAttribute(value as string | number),
    ]),
  ]);
}

/** The item of a business reference. */
export function toUnique(item: Item | undefined): Unique | undefined {
  if (item === undefined) return undefined;
  const text = (name: string): string | undefined => item[name]?.S;
  return {
    id: text('id') ?? '',
    operation: text(companion.operation) ?? '',
    record: text(companion.record) ?? '',
    fingerprint: text(companion.fingerprint),
    reference: text(companion.reference),
    ...(item[companion.status]?.N !== undefined && { status: Number(item[companion.status]?.N) }),
    createdAt: Number(item[companion.createdAt]?.N),
  };
}

/** A transaction may name an item once, and ours is ours. */
function refuseOwnRecord(tableName: string, id: string, writes: readonly WireAction[]): void {
  const index = writes.findIndex(
    ({ table, key }) => nameOf(table) === nameOf(tableName) && key?.id?.S === id,
  );
  if (index === -1) return;
  const message = `commit: writes[${index}] is on the operation's own record, which the transaction writes itself.`;
  throw new IdempotencyError('input-invalid', message, { id });
}

/** A table is named by its name or by its ARN. */
function nameOf(table: string): string {
  return table.slice(table.lastIndexOf('/') + 1);
}

function refuseTooMuch(items: readonly TransactWriteItem[], own: number): void {
  if (items.length > mostActions) {
    const most = mostActions - (items.length - own);
    throw new IdempotencyError(
      'input-invalid',
      `commit: ${own} writes; at most ${most} fit into one transaction here.`,
    );
  }
  const bytes = items.reduce((sum, item) => sum + sizeOf(item), 0);
  if (bytes > mostBytes) {
    throw new IdempotencyError(
      'input-invalid',
      `commit: about ${bytes} bytes; at most ${mostBytes} fit into one transaction.`,
    );
  }
}

/** About as many bytes as DynamoDB counts; it judges in the end. */
function sizeOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.entries(value).reduce(
    (sum, [name, member]) => sum + (name.length > 4 ? name.length : 0) + sizeOf(member),
    0,
  );
}

const transient: ReadonlySet<string> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
]);

const contention: ReadonlySet<string> = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
]);

/**
 * Reads a failed transaction by the places of its reasons: what is ours, then uniqueness, then the caller's, then what passes
 * by itself. `undefined`: it is not known what became of it.
 *
 * @param read reads our record, where an old endpoint returned no item
 */
export async function readCancellation(
  error: unknown,
  { transition, uniques, outgoing }: Commit,
  { writes }: Transaction,
  read: (id: string) => Promise<OnceRecord | undefined>,
): Promise<Committed | undefined> {
  const { name = '', CancellationReasons } = error as {
    name?: string;
    CancellationReasons?: CancellationReason[];
  };
  if (contention.has(name)) return { kind: 'contended' };
  if (name !== 'TransactionCanceledException' || CancellationReasons === undefined) return undefined;
  const ours = transition === undefined ? undefined : CancellationReasons[0];
  const others = transition === undefined ? CancellationReasons : CancellationReasons.slice(1);
  if (transition !== undefined && isRefusal(ours)) {
    const record = toRecord(ours?.Item as Item | undefined) ?? (await read(targetOf(transition)));
    return appliedByMe(transition, record) ? { kind: 'applied-before' } : { kind: 'refused', record };
  }
  const taken = others.slice(0, uniques.length).findIndex(isRefusal);
  if (taken !== -1) {
    const by = toUnique(others[taken]?.Item as Item | undefined) ?? uniques[taken];
    if (by !== undefined) return { kind: 'taken', by };
  }
  const theirs = others.slice(uniques.length + outgoing.length);
  const index = theirs.findIndex((reason) => isDecided(reason));
  if (index !== -1) {
    const item = await tidyItem(
      writes[index],
      theirs[index]?.Item as Record<string, AttributeValue> | undefined,
    );
    return { kind: 'write-refused', index, reason: theirs[index]?.Code ?? '', item };
  }
  return CancellationReasons.some(({ Code }) => transient.has(Code ?? ''))
    ? { kind: 'contended' }
    : undefined;
}

function isRefusal(reason: CancellationReason | undefined): boolean {
  return reason?.Code === 'ConditionalCheckFailed';
}

/** Not a state of the moment: sent again, it would fail again. */
function isDecided({ Code = 'None' }: CancellationReason): boolean {
  return Code !== 'None' && !transient.has(Code);
}
