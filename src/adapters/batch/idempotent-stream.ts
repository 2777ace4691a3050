import { type Json, serialize } from '../../domain/canonical-json.ts';
import { toJson } from '../../domain/canonical-value.ts';
import { requireFunction } from '../../domain/options.ts';
import type { Claim } from '../../engine/claim.ts';
import type { LambdaContext } from '../../engine/request.ts';
import { type BatchOptions, defineBatchOperation } from './options.ts';
import { type DynamoRecordLike, type KinesisRecordLike, meaningOfText, payloadText } from './payload.ts';
import { type BatchResponse, identifiersOf, respond } from './response.ts';
import { identify, runBatch } from './run-batch.ts';

/** A record of either kind of stream. */
export type StreamRecordLike = KinesisRecordLike | DynamoRecordLike;

/** Options of {@link idempotentStream}. */
export type StreamOptions<Item, Context, Result> = BatchOptions<Item, Context, Result>;

/**
 * A Lambda handler for a Kinesis or DynamoDB stream that runs each record once per business key. The response names the
 * lowest failed sequence number, from which Lambda sends everything again: what was done behind it replays without
 * running. Within a partition key nothing overtakes a failure.
 *
 * The mapping needs `ReportBatchItemFailures`.
 *
 * Failure semantics: as `idempotentSqs`.
 *
 * @throws IdempotencyError `options` at construction; `input-invalid` for a batch with a record that has no sequence number
 */
export function idempotentStream<Item extends StreamRecordLike, Context = LambdaContext, Result = unknown>(
  handler: (record: Item, context: Context, claim: Claim) => Result | Promise<Result>,
  options: StreamOptions<Item, Context, NoInfer<Awaited<Result>>>,
): (event: { readonly Records: readonly Item[] }, context: Context) => Promise<BatchResponse> {
  requireFunction('idempotentStream', handler);
  const batch = defineBatchOperation('idempotentStream', options, meaningOf, 1);
  return async function consume(event, context) {
    const identifiers = identifiersOf<Item>(event?.Records, sequenceNumber);
    const deliveries = await Promise.all(
      [...identifiers].map(async ([record, identifier]) => ({
        record,
        identifier,
        identity: await identify(batch, record, context),
        lane: partitionOf(record),
      })),
    );
    const failures = await runBatch(batch, deliveries, context, handler);
    // the records come in the order of their numbers
    const lowest = deliveries.find((delivery) => failures.has(delivery));
    return respond(deliveries, lowest === undefined ? [] : [lowest], batch.onFailures);
  };
}

function sequenceNumber(record: StreamRecordLike): unknown {
  return 'kinesis' in record ? record.kinesis.sequenceNumber : record.dynamodb?.SequenceNumber;
}

/** What has an order of its own: a partition key, or an item. */
function partitionOf(record: StreamRecordLike): string {
  if ('kinesis' in record) return record.kinesis.partitionKey;
  return serialize(toJson(record.dynamodb?.Keys ?? null));
}

/** Members by which an allow-list may choose: those of the data, or `NewImage.total.N` and the like. */
function meaningOf(record: StreamRecordLike): Json {
  if ('kinesis' in record) {
    const text = payloadText(record);
    return text === undefined ? ['bytes', record.kinesis.data] : meaningOfText(text);
  }
  const { eventName = null, dynamodb = {} } = record;
  const { Keys = null, NewImage = null, OldImage = null } = dynamodb;
  return ['json', toJson({ eventName, Keys, NewImage, OldImage }, 'record.dynamodb')];
}
