import type { AttributeValue, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { IdempotencyError } from '../../errors.ts';
import type { Attributes, WriteAction } from '../commit.ts';
import type { Item } from './item.ts';

/** A write of the caller's as the wire has it. */
export interface WireAction {
  readonly action: TransactWriteItem;
  readonly table: string;
  /** The item's key, or the whole item of a put. */
  readonly key: Item | undefined;
  /** Whether it was given in plain values, so that its item is given back in plain values. */
  readonly isPlain: boolean;
}

const kinds = ['Put', 'Update', 'Delete', 'ConditionCheck'] as const;
const tags = new Set(['S', 'N', 'B', 'SS', 'NS', 'BS', 'M', 'L', 'NULL', 'BOOL']);

/**
 * Brings a write into the wire's shape. A key is a text, a number or bytes, never an object, so an item all of whose members are
 * tagged values has the wire's shape already, and any other is plain.
 *
 * @throws IdempotencyError `input-invalid` naming the place, `options` without a marshaller
 */
export async function toWireAction(write: WriteAction, index: number): Promise<WireAction> {
  const refuse = (why: string): never => {
    throw new IdempotencyError('input-invalid', `commit: writes[${index}] ${why}.`);
  };
  const given = Object.entries(Object(write) as Record<string, unknown>).filter(
    ([, value]) => value !== undefined,
  );
  const [kind = '', action] = given[0] ?? [];
  if (
    given.length !== 1 ||
    !kinds.includes(kind as (typeof kinds)[number]) ||
    typeof action !== 'object' ||
    action === null
  ) {
    return refuse(`must have exactly one of ${kinds.join(', ')}`);
  }
  const { TableName, Item: item, Key, ExpressionAttributeValues: values } = action as Record<string, unknown>;
  if (typeof TableName !== 'string' || TableName === '') return refuse('needs a TableName');
  const key = item ?? Key;
  if (typeof key !== 'object' || key === null) return refuse(`needs ${kind === 'Put' ? 'an Item' : 'a Key'}`);
  const isPlain = !Object.values(key).every(isTagged);
  if (!isPlain) return { action: { [kind]: action }, table: TableName, key: key as Item, isPlain };
  const { marshall } = await marshaller();
  const wired = (attributes: unknown): Item | undefined => {
    if (attributes === undefined) return undefined;
    try {
      return marshall(attributes as Record<string, unknown>);
    } catch (error) {
      return refuse(`holds a value that DynamoDB has no type for: ${(error as Error).message}`);
    }
  };
  const wire = {
    ...action,
    ...(item !== undefined && { Item: wired(item) }),
    ...(Key !== undefined && { Key: wired(Key) }),
    ...(values !== undefined && { ExpressionAttributeValues: wired(values) }),
  };
  return { action: { [kind]: wire }, table: TableName, key: wired(key), isPlain };
}

/** The item that a refused write of the caller's met, in the shape of the write. */
export async function tidyItem(
  write: WireAction | undefined,
  item: Record<string, AttributeValue> | undefined,
): Promise<Attributes | undefined> {
  if (item === undefined || write?.isPlain !== true) return item;
  return (await marshaller()).unmarshall(item);
}

function isTagged(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const members = Object.keys(value);
  return members.length === 1 && tags.has(members[0] ?? '');
}

/** Loaded when first needed: whoever writes in the wire's shape needs none. */
async function marshaller(): Promise<typeof import('@aws-sdk/util-dynamodb')> {
  try {
    return await import('@aws-sdk/util-dynamodb');
  } catch (error) {
    const message =
      'commit: writes in plain values need the package @aws-sdk/util-dynamodb. Install it, or write { S: … } values.';
    throw new IdempotencyError('options', message, { cause: error });
  }
}
