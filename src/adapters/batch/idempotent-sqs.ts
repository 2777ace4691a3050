import { requireFunction } from '../../domain/options.ts';
import type { Claim } from '../../engine/claim.ts';
import type { LambdaContext } from '../../engine/request.ts';
import { type BatchOperation, type BatchOptions, defineBatchOperation } from './options.ts';
import { meaningOfText, type SqsRecordLike } from './payload.ts';
import { type BatchResponse, identifiersOf, respond } from './response.ts';
import { type Delivery, identify, runBatch } from './run-batch.ts';

/** How many records of a queue run at once by default: the default batch size. */
const defaultConcurrency = 10;

/** Options of an SQS adapter. */
export type SqsOptions<Item, Context, Result> = BatchOptions<Item, Context, Result>;

/**
 * A Lambda handler for an SQS queue that runs each message once per business key, each under a claim of its own, and
 * reports the failed ones. A replay counts as done; busy, in doubt and a reused key are failures of that message alone,
 * so it is never acknowledged while the only run that could lose it is still going. On a FIFO queue what follows a
 * failure in its message group is neither claimed nor run.
 *
 * The mapping needs `ReportBatchItemFailures` (or `onFailures: 'throw'`). The visibility timeout must be longer than the
 * function's timeout, or redeliveries meet a live claim and use up their receives.
 *
 * Failure semantics: a killed process leaves the messages to the visibility timeout and their claims to the lease; then
 * `onLapse` decides. All records end before the response.
 *
 * @throws IdempotencyError `options` at construction; `input-invalid` for a batch with a record that has no message id
 */
export function idempotentSqs<
  Item extends SqsRecordLike = SqsRecordLike,
  Context = LambdaContext,
  Result = unknown,
>(
  handler: (record: Item, context: Context, claim: Claim) => Result | Promise<Result>,
  options: SqsOptions<Item, Context, NoInfer<Awaited<Result>>>,
): (event: { readonly Records: readonly Item[] }, context: Context) => Promise<BatchResponse> {
  requireFunction('idempotentSqs', handler);
  const batch = defineSqsOperation('idempotentSqs', options);
  return async function consume(event, context) {
    const deliveries = await deliveriesOf(batch, event?.Records, context);
    const failures = await runBatch(batch, deliveries, context, handler);
    return respond(deliveries, failures.keys(), batch.onFailures);
  };
}

/** The common form of what both SQS adapters are given. */
export function defineSqsOperation<Item extends SqsRecordLike, Context, Result>(
  adapter: string,
  options: SqsOptions<Item, Context, Result>,
): BatchOperation<Item, Context> {
  return defineBatchOperation(adapter, options, ({ body }) => meaningOfText(body), defaultConcurrency);
}

/** The batch with its identities. A message that is in it twice (redelivered before it was deleted) is one delivery. */
export async function deliveriesOf<Item extends SqsRecordLike, Context>(
  batch: BatchOperation<Item, Context>,
  records: unknown,
  context: Context,
): Promise<Delivery<Item>[]> {
  const once = new Map<string, Item>();
  for (const [record, identifier] of identifiersOf<Item>(records, ({ messageId }) => messageId)) {
    if (!once.has(identifier)) once.set(identifier, record);
  }
  return Promise.all(
    [...once].map(async ([identifier, record]) => ({
      record,
      identifier,
      identity: await identify(batch, record, context),
      ...(isFifo(record) && { lane: record.attributes?.MessageGroupId ?? '' }),
    })),
  );
}

/** A FIFO queue promises an order within a message group. On standard queues group ids (fair queues) promise none. */
function isFifo({ eventSourceARN }: SqsRecordLike): boolean {
  return eventSourceARN?.endsWith('.fifo') === true;
}
