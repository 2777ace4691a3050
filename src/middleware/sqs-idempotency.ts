import { defineSqsOperation, deliveriesOf, type SqsOptions } from '../adapters/batch/idempotent-sqs.ts';
import type { BatchOperation } from '../adapters/batch/options.ts';
import type { SqsRecordLike } from '../adapters/batch/payload.ts';
import { type Report, readReport } from '../adapters/batch/report.ts';
import { respond } from '../adapters/batch/response.ts';
import {
  asFailure,
  type Delivery,
  eachInTurn,
  type Failure,
  report,
  timekeeper,
} from '../adapters/batch/run-batch.ts';
import { begin } from '../engine/begin.ts';
import { type HeldClaim, unheldClaim } from '../engine/claim.ts';
import type { LambdaContext } from '../engine/request.ts';
import { complete, hold, type Settled } from '../engine/settle.ts';
import { isSwitchedOff } from '../engine/switch.ts';
import { IdempotencyError } from '../errors.ts';
import { lend } from './claim-of.ts';
import { type Course, watch } from './course.ts';
import { type MiddyHooks, type MiddyRequest, PerRequest } from './middy.ts';
import { settleHook } from './settle.ts';

/** An SQS event, or what is left of it for the handler. */
type Batch<Item> = { Records: Item[] };

/** A batch in the middle of its handler. */
interface Business<Item> {
  readonly deliveries: readonly Delivery<Item>[];
  readonly held: ReadonlyMap<Delivery<Item>, HeldClaim>;
  /** Records with the business key of one that is handed over: they share its fate. */
  readonly followers: ReadonlyMap<Delivery<Item>, Delivery<Item>>;
  readonly failed: Set<Delivery<Item>>;
  readonly course: () => Course;
}

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
 *   done some records before it throws should report, or be given `onFailure: 'hold'`.
 *
 * Failure semantics: as `idempotentSqs`, except that all claims of the batch begin before the handler does.
 *
 * @throws IdempotencyError `options` at construction or on a misreported batch; `input-invalid` for a batch with a record
 * that has no message id
 */
export function sqsIdempotency<Item extends SqsRecordLike = SqsRecordLike, Context = LambdaContext>(
  options: SqsOptions<Item, Context, unknown>,
): MiddyHooks<Batch<Item>, Context> {
  const batch = defineSqsOperation('sqsIdempotency', options);
  const businesses = new PerRequest<Business<Item>>();

  async function sqsIdempotencyBefore(request: MiddyRequest<Batch<Item>, Context>): Promise<void> {
    if (isSwitchedOff()) return passThrough(batch, request.event.Records);
    const business = await claimAll(batch, request);
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
    const identifiers = new Set([...business.held.keys()].map(({ identifier }) => identifier));
    const told = readReport(request.response, identifiers);
    if (told.kind === 'misread') {
      for (const held of business.held.values()) hold(held, 'misread response');
      throw new IdempotencyError(
        'options',
        `sqsIdempotency: the handler's response ${told.fault}; Lambda would misread it.`,
      );
    }
    await settleAll(batch, business, told);
    request.response = merged(batch, business);
  }

  async function sqsIdempotencyOnError(request: MiddyRequest<Batch<Item>, Context>): Promise<void> {
    const business = businesses.take(request);
    if (business === undefined) return;
    const { firstError } = business.course();
    await settleAll(batch, business, { kind: 'thrown', error: firstError });
    // somebody below has made an answer of the error: it must still name what failed
    if (request.response !== undefined) request.response = merged(batch, business);
  }

  return { before: sqsIdempotencyBefore, after: sqsIdempotencyAfter, onError: sqsIdempotencyOnError };
}

function passThrough<Item, Context>(
  { operation }: BatchOperation<Item, Context>,
  records: readonly Item[],
): void {
  operation.observe({ type: 'bypassed', operation: operation.name, reason: 'disabled' });
  for (const record of records) lend(record, unheldClaim(operation.name));
}

/** Claims in the order of the lanes. What is refused is reported; what was done before is neither run nor reported. */
async function claimAll<Item extends SqsRecordLike, Context>(
  batch: BatchOperation<Item, Context>,
  request: MiddyRequest<Batch<Item>, Context>,
): Promise<Business<Item>> {
  const { event, context } = request;
  const deliveries = await deliveriesOf(batch, event?.Records, context);
  const held = new Map<Delivery<Item>, HeldClaim>();
  const leaders = new Map<string, Delivery<Item>>();
  const followers = new Map<Delivery<Item>, Delivery<Item>>();
  const hasTime = timekeeper(batch, context);

  const claim = async (delivery: Delivery<Item>): Promise<Failure | undefined> => {
    const { identity, record } = delivery;
    if (identity.kind !== 'request') return identity.kind === 'unidentified' ? identity : undefined;
    const leader = leaders.get(identity.request.id);
    if (leader !== undefined) {
      followers.set(delivery, leader);
      return undefined;
    }
    const begun = await begin(identity.request);
    if (begun.kind !== 'run') return asFailure(begun);
    leaders.set(identity.request.id, delivery);
    held.set(delivery, begun.held);
    lend(record, begun.held.claim);
    return undefined;
  };

  const failures = await eachInTurn(batch, deliveries, () => hasTime(0), claim);
  return { deliveries, held, followers, failed: new Set(failures.keys()), course: watch(request) };
}

/** Ends every claim by what the handler said of its record. */
async function settleAll<Item, Context>(
  batch: BatchOperation<Item, Context>,
  { held, failed }: Business<Item>,
  told: Extract<Report, { kind: 'reported' }> | { readonly kind: 'thrown'; readonly error: unknown },
): Promise<void> {
  const settleOne = async (delivery: Delivery<Item>, claim: HeldClaim): Promise<void> => {
    const isDone = told.kind === 'reported' && !told.failed.has(delivery.identifier);
    const error = told.kind === 'thrown' ? told.error : reportedFailure();
    const settled = isDone
      ? await complete(claim, { kind: 'value', value: undefined })
      : await settleHook(claim, { kind: 'thrown', error });
    const failure = isDone ? failureOfSettled(settled) : { error };
    if (failure === undefined) return;
    failed.add(delivery);
    report(batch, failure, delivery.record);
  };
  await Promise.all([...held].map(([delivery, claim]) => settleOne(delivery, claim)));
}

/** A claim that was lost may have been completed by whoever took it over. */
function failureOfSettled(settled: Settled): Failure | undefined {
  return settled.kind === 'own' ? undefined : asFailure(settled);
}

function reportedFailure(): Error {
  const error = new Error('The handler reported the record as failed.');
  error.name = 'BatchItemFailure';
  return error;
}

function merged<Item, Context>(
  batch: BatchOperation<Item, Context>,
  { deliveries, failed, followers }: Business<Item>,
): unknown {
  const isFailed = (delivery: Delivery<Item>): boolean => failed.has(followers.get(delivery) ?? delivery);
  const identifiers = new Set(deliveries.filter(isFailed).map(({ identifier }) => identifier));
  return respond(
    deliveries.map(({ identifier }) => identifier),
    identifiers,
    batch.onFailures,
  );
}
