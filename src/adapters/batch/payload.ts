import { isUtf8 } from 'node:buffer';
import { type Json, NumberLiteral, parseJson } from '../../domain/canonical-json.ts';
import { memberAt } from '../../domain/fingerprint.ts';

/** A record of an SQS event, as far as it is read here. */
export interface SqsRecordLike {
  readonly messageId: string;
  readonly body: string;
  readonly eventSourceARN?: string | undefined;
  readonly attributes?:
    | { readonly MessageGroupId?: string | undefined; readonly MessageDeduplicationId?: string | undefined }
    | undefined;
  readonly messageAttributes?:
    | Readonly<Record<string, { readonly stringValue?: string | undefined } | undefined>>
    | undefined;
}

/** A record of a Kinesis event. */
export interface KinesisRecordLike {
  readonly kinesis: { readonly sequenceNumber: string; readonly partitionKey: string; readonly data: string };
}

/** A scalar or nested attribute of a DynamoDB image. */
export type AttributeLike = { readonly S?: string | undefined; readonly N?: string | undefined } & object;

/** A record of a DynamoDB stream. */
export interface DynamoRecordLike {
  readonly eventName?: string | undefined;
  readonly dynamodb?:
    | {
        readonly SequenceNumber?: string | undefined;
        readonly Keys?: Readonly<Record<string, AttributeLike>> | undefined;
        readonly NewImage?: Readonly<Record<string, AttributeLike>> | undefined;
        readonly OldImage?: Readonly<Record<string, AttributeLike>> | undefined;
      }
    | undefined;
}

/** What the producer sent: an SQS body as it is, Kinesis data decoded; `undefined` when that is no text. */
export function payloadText(record: SqsRecordLike | KinesisRecordLike): string | undefined {
  if (!('kinesis' in record)) return record.body;
  const bytes = Buffer.from(record.kinesis.data, 'base64');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** The payload's meaning: JSON canonically, other text as it stands. */
export function meaningOfText(text: string): Json {
  const document = parseJson(text);
  return document === undefined ? ['text', text] : ['json', document];
}

/** One key from the members at the given paths; `undefined` when one is missing, so that nobody shares a bucket. */
export function keyFromMembers(text: string | undefined, paths: readonly string[]): string | undefined {
  const document = text === undefined ? undefined : parseJson(text);
  if (document === undefined) return undefined;
  return joinParts(paths.map((path) => scalar(memberAt(document, path.split('.')))));
}

/** One part is the key itself; several are joined so that no two lists give the same text. */
export function joinParts(parts: readonly (string | undefined)[]): string | undefined {
  if (parts.some((part) => part === undefined || part.trim() === '')) return undefined;
  return parts.length === 1 ? parts[0] : JSON.stringify(parts);
}

/** Texts, and numbers by their canonical spelling. */
function scalar(value: Json | undefined): string | undefined {
  if (value instanceof NumberLiteral) return inDigits(value.spelling);
  return typeof value === 'string' ? value : undefined;
}

/** A large integer has all its digits and no exponent, so that its record is found by the id as people write it. */
function inDigits(spelling: string): string {
  const [, digits = '', zeros = ''] = /^(-?\d+)e(\d{1,2})$/.exec(spelling) ?? [];
  return digits === '' ? spelling : `${digits}${'0'.repeat(Number(zeros))}`;
}
