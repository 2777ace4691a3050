import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { OnceRecord } from '../../domain/record.ts';
import { shardOf } from '../../domain/shard.ts';
import { attribute, prefix } from '../../names.ts';

/** An item as the wire has it. */
export type Item = Record<string, AttributeValue>;

/** A record in parts; what is `undefined` is not there. */
export type Parts = { readonly [field in keyof OnceRecord]?: OnceRecord[field] | undefined };

type Field = Exclude<keyof OnceRecord, 'effects' | 'values'>;

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
  onLapse: 'S',
  retention: 'N',
  skew: 'N',
  doubtOf: 'S',
  dueAt: 'N',
  asked: 'N',
  examinedBy: 'S',
  resolvedBy: 'S',
  resolvedWhy: 'S',
};

/** One attribute's value. */
export function toAttribute(value: string | number): AttributeValue {
  return typeof value === 'number' ? { N: String(value) } : { S: value };
}

/**
 * The attributes of a record's parts: the journal and the captured values lie flat beside the rest, each entry an
 * attribute of its own, so that two entries are written without a map that must be there first. What is due also names
 * its shard of the sweep index.
 */
export function attributesOf(
  { effects, values, ...parts }: Parts,
  id = parts.id ?? '',
): Map<string, string | number> {
  const attributes = new Map<string, string | number>();
  for (const field of Object.keys(fields) as Field[]) {
    const value = parts[field];
    if (value !== undefined) attributes.set(attribute[field], value);
  }
  if (parts.dueAt !== undefined) attributes.set(attribute.sweep, shardOf(id));
  for (const [slot, text] of Object.entries(effects ?? {})) attributes.set(prefix.effect + slot, text);
  for (const [name, text] of Object.entries(values ?? {})) attributes.set(prefix.value + name, text);
  return attributes;
}

/** The record as an item; what it does not have is left out. */
export function toItem(record: Parts): Item {
  return Object.fromEntries([...attributesOf(record)].map(([name, value]) => [name, toAttribute(value)]));
}

/** The item as a record. Attributes that this version does not know are left alone in the table and not read. */
export function toRecord(item: Item | undefined): OnceRecord | undefined {
  if (item === undefined) return undefined;
  const record: Record<string, unknown> = {};
  for (const field of Object.keys(fields) as Field[]) {
    const value = item[attribute[field]];
    if (value !== undefined) record[field] = fields[field] === 'N' ? Number(value.N) : value.S;
  }
  for (const [field, start] of [
    ['effects', prefix.effect],
    ['values', prefix.value],
  ] as const) {
    const texts = textsOf(item, start);
    if (texts.length > 0) record[field] = Object.fromEntries(texts);
  }
  return record as unknown as OnceRecord;
}

function textsOf(item: Item, start: string): (readonly [string, string])[] {
  return Object.entries(item)
    .filter(([name]) => name.startsWith(start))
    .map(([name, value]) => [name.slice(start.length), value.S ?? '']);
}
