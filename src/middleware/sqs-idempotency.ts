import { defineSqsOperation, type SqsOptions } from '../adapters/batch/idempotent-sqs.ts';
import type { BatchOperation } from '../adapters/batch/options.ts';
import type { SqsRecordLike } from '../adapters/batch/payload.ts';
import { respond } from '../adapters/batch/response.ts';
import { unheldClaim } from '../engine/claim.ts';
import type { LambdaContext } from '../engine/request.ts';
import { isSwitchedOff } from '../engine/switch.ts';
import { type Batch, type BatchBusiness, claimBatch } from './claim-batch.ts';
import { lend } from './claim-of.ts';
import { type MiddyHooks, type MiddyRequest, PerRequest } from './middy.ts';
import { misreported, settleBatch, toldBefore, toldBy } from './settle-batch.ts';

/** What the chain's event must have at least. A list of our own type here would narrow the records of the chain. */
type AnyBatch = { Records: object };

/**
 * The drop-in for an existing SQS batch handler, Powertools' BatchProcessor included: claims each record before it, hands it
 * only the records that must run, settles each by the `batchItemFailures` that it returns, and merges the response. What
 * turns results into `batchItemFailures` goes below it in the chain. `claimOf(record)` is a record's claim.
 *
 * Rules for a handler that does not report record by record:
 * - nothing, `null`, `{}`, or an empty or `null` list: all succeeded, as Lambda reads it;
 * - a list that Lambda would misread (unknown or empty identifiers, another shape): nobody knows which record is done, so
 *   all are held and reported, and the call ends in an error that says what is wrong;
 * - an error: it is every handed record's error, by the rules of `onFailure`. It releases by default; a handler that has
 *   done some records before it throws should report, or be given `onFailure: 'hold'`;
 * - a report, and then an error of another middleware: the report counts, and what is done replays.
 *
 * Failure semantics: as `idempotentSqs`, except that all claims of the batch begin before the handler does.
 *
 * @throws IdempotencyError `options` at construction or on a misreported batch; `input-invalid` for a batch with a record
 * that has no message id
 */
export function sqsIdempotency<Item extends SqsRecordLike = SqsRecordLike, Context = LambdaContext>(
  options: SqsOptions<Item, Context, unknown>,
): MiddyHooks<AnyBatch, Context> {
  const batch = defineSqsOperation('sqsIdempotency', options);
  const businesses = new PerRequest<BatchBusiness<Item>>();

  async function sqsIdempotencyBefore(request: MiddyRequest<Batch<Item>, Context>): Promise<void> {
    if (isSwitchedOff()) return passThrough(batch, request.event.Records);
    const business = await claimBatch(batch, request);
    if (business.held.size === 0) {
      request.earlyResponse = merged(batch, business);
      return;
    }
    businesses.set(request, business);
    // the handler's own list, so that what it or others keep of the event stays whole
    const records = business.deliveries.filter((delivery) => business.held.has(delivery));
    request.event = { ...request.event, Records: records.map(({ record }) => record) };
  }

  async function sqsIdempotencyAfter(request: MiddyRequest<Batch<Item>, Context>): Promise<void> {
    const business = businesses.take(request);
    if (business === undefined) return;
    // nothing is left to settle; but should somebody fail after us, an answer made of that must name what failed here
    businesses.set(request, { ...business, held: new Map() });
    const told = toldBy(business, request.response);
    await settleBatch(batch, business, told);
    if (told.kind === 'misread') throw misreported(told.fault);
    request.response = merged(batch, business);
  }

  async function sqsIdempotencyOnError(request: MiddyRequest<Batch<Item>, Context>): Promise<void> {
    const business = businesses.take(request);
    if (business === undefined) return;
    await settleBatch(batch, business, toldBefore(business));
    // somebody below has made an answer of the error, and knows only what was handed over: it must name all that failed
    if (request.response !== undefined) request.response = merged(batch, business);
  }

  return { before: sqsIdempotencyBefore, after: sqsIdempotencyAfter, onError: sqsIdempotencyOnError };
}

function passThrough<Item, Context>(
  { operation }: BatchOperation<Item, Context>,
  records: readonly Item[],
): void {
  operation.observe({ type: 'bypassed', operation: operation.name, reason: 'disabled' });
  // an event of another source is none of our business when we are switched off
  if (Array.isArray(records)) for (const record of records) lend(record, unheldClaim(operation));
}

function merged<Item, Context>(
  { onFailures }: BatchOperation<Item, Context>,
  { deliveries, failed }: BatchBusiness<Item>,
): unknown {
  return respond(deliveries, failed, onFailures);
}
