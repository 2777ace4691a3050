import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { OnceRecord } from '../../domain/record.ts';
import { attribute } from '../../names.ts';

/** An item as the wire has it. */
export type Item = Record<string, AttributeValue>;

type Field = keyof OnceRecord & keyof typeof attribute;

/** The record holds texts and numbers only, so no marshaller is needed in the handler's bundle. */
const fields: Record<Field, 'S' | 'N'> = {
  id: 'S',
  state: 'S',
  owner: 'S',
  fence: 'N',
  attempt: 'N',
  fingerprint: 'S',
  claimedAt: 'N',
  leaseUntil: 'N',
  endedAt: 'N',
  expiresAt: 'N',
  outcome: 'S',
  resolvedBy: 'S',
  resolvedWhy: 'S',
};

/** One attribute's value. */
export function toAttribute(value: string | number): AttributeValue {
  return typeof value === 'number' ? { N: String(value) } : { S: value };
}

/** The record as an item; what it does not have is left out. */
export function toItem(record: Partial<OnceRecord>): Item {
  const present = (Object.keys(fields) as Field[]).filter((field) => record[field] !== undefined);
  return Object.fromEntries(
    present.map((field) => [attribute[field], toAttribute(record[field] as string | number)]),
  );
}

/** The item as a record. Attributes that this version does not know are left alone in the table and not read. */
export function toRecord(item: Item | undefined): OnceRecord | undefined {
  if (item === undefined) return undefined;
  const present = (Object.keys(fields) as Field[]).filter((field) => item[attribute[field]] !== undefined);
  return Object.fromEntries(
    present.map((field) => {
      const value = item[attribute[field]];
      return [field, fields[field] === 'N' ? Number(value?.N) : value?.S];
    }),
  ) as unknown as OnceRecord;
}
