import { type Json, parseJson } from '../../domain/canonical-json.ts';
import { isTextList } from '../../domain/options.ts';
import { IdempotencyError } from '../../errors.ts';
import {
  type AttributeLike,
  type DynamoRecordLike,
  joinParts,
  type KinesisRecordLike,
  keyFromMembers,
  meaningOfText,
  payloadText,
  type SqsRecordLike,
} from './payload.ts';

/**
 * A key function, together with what of the record its fingerprint is taken from where that is not the whole payload:
 * an envelope differs on every publish, the event inside does not.
 */
export interface BusinessKey<Item> {
  (record: Item): string | undefined;
  readonly meaning?: (record: Item) => Json;
}

/** At least one: without any, all records would have the same key. */
type Names = [string, ...string[]];

/**
 * Members of a JSON body (SQS) or of JSON data (Kinesis), by dotted path. Several paths make one key: an entity's id and
 * its version, `bodyKey('order.id', 'order.version')`. A record that lacks one of them fails.
 */
export function bodyKey(...paths: Names): BusinessKey<SqsRecordLike | KinesisRecordLike> {
  requireNames('bodyKey', paths);
  return (record) => keyFromMembers(payloadText(record), paths);
}

/** Members of the message inside an SNS envelope. With raw message delivery there is no envelope: use `bodyKey`. */
export function snsKey(...paths: Names): BusinessKey<SqsRecordLike> {
  requireNames('snsKey', paths);
  const inner = (record: SqsRecordLike): string => envelope(record, 'Message') ?? '';
  return Object.assign((record: SqsRecordLike) => keyFromMembers(inner(record), paths), {
    meaning: (record: SqsRecordLike) => meaningOfText(inner(record)),
  });
}

/**
 * Members of an EventBridge event's `detail`, which a rule has put into a queue. What counts under the key is the event's
 * source, type and detail; an allow-list names members of the event (`detail.amount`).
 */
export function eventBridgeKey(...paths: Names): BusinessKey<SqsRecordLike> {
  requireNames('eventBridgeKey', paths);
  const inside = paths.map((path) => `detail.${path}`);
  return Object.assign((record: SqsRecordLike) => keyFromMembers(record.body, inside), {
    meaning: (record: SqsRecordLike): Json => {
      const event = parseJson(record.body) as Record<string, Json> | null | undefined;
      const { source = null, 'detail-type': type = null, detail = null } = event ?? {};
      return ['json', { source, 'detail-type': type, detail }];
    },
  });
}

/** A message attribute that the producer sets. */
export function attributeKey(name: string): BusinessKey<SqsRecordLike> {
  requireNames('attributeKey', [name]);
  return (record) => record.messageAttributes?.[name]?.stringValue;
}

/**
 * The deduplication id of a FIFO queue, if the producer sets it from the business. Content-based ids are as good as the
 * content. A redrive from a dead-letter queue replaces it: prefer a member of the body.
 */
export function deduplicationKey(): BusinessKey<SqsRecordLike> {
  return (record) => record.attributes?.MessageDeduplicationId;
}

/**
 * The broker's message id. It protects from a redelivery of the same message and from nothing else: a producer that sends
 * twice, a redrive from a dead-letter queue and a replay tool all make new ids, and every one of them runs again.
 */
export function messageIdKey(): BusinessKey<SqsRecordLike> {
  return (record) => record.messageId;
}

/**
 * Scalar attributes of a DynamoDB stream's new image: an entity's id and its version. A removal has the old image and a
 * key of its own, since the version that it removes was written before.
 */
export function imageKey(...names: Names): BusinessKey<DynamoRecordLike> {
  requireNames('imageKey', names);
  return ({ eventName, dynamodb }) => {
    const image = dynamodb?.NewImage ?? dynamodb?.OldImage ?? {};
    const parts = names.map((name) => scalarOf(image[name]));
    return joinParts(eventName === 'REMOVE' ? ['REMOVE', ...parts] : parts);
  };
}

/** What a scheduled EventBridge event says: which rule, and which tick of it. */
interface Tick {
  readonly resources?: readonly string[] | undefined;
  readonly time?: string | undefined;
}

/**
 * `{rule}:{time}` of a scheduled EventBridge event, for `idempotent`: two replicas, a retry and an engineer's replay of one
 * tick are one run. Only rule and time count; the event's own id is new in every replay.
 */
export const scheduleKey: BusinessKey<Tick> = Object.assign(
  ({ resources, time }: Tick): string | undefined => {
    const [, rule] = /rule\/(.+)$/.exec(resources?.[0] ?? '') ?? [];
    return rule === undefined || time === undefined ? undefined : `${rule}:${time}`;
  },
  { meaning: ({ resources, time }: Tick): Json => ['tick', resources?.[0] ?? null, time ?? null] },
);

function requireNames(owner: string, names: readonly unknown[]): void {
  if (names.length > 0 && isTextList.test(names)) return;
  throw new IdempotencyError('options', `${owner}: name at least one member, each by a non-empty string.`);
}

function envelope(record: SqsRecordLike, member: string): string | undefined {
  const text = (parseJson(record.body) as Record<string, Json> | undefined)?.[member];
  return typeof text === 'string' ? text : undefined;
}

function scalarOf(attribute: AttributeLike | undefined): string | undefined {
  return attribute?.S ?? attribute?.N;
}
