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
  unlessMet,
} from '../adapters/batch/run-batch.ts';
import { type Answered, refuse } from '../engine/answers.ts';
import { begin } from '../engine/begin.ts';

import { type HeldClaim, unheldClaim } from '../engine/claim.ts';
import type { LambdaContext, Request } from '../engine/request.ts';
import { complete, hold } from '../engine/settle.ts';
import { isSwitchedOff } from '../engine/switch.ts';
import { IdempotencyError } from '../errors.ts';
import { lend } from './claim-of.ts';
import { type Course, watch } from './course.ts';
import { type MiddyHooks, type MiddyRequest, PerRequest } from './middy.ts';
import { settleError, settleHook } from './settle-hook.ts';

/** An SQS event, or what is left of it for the handler. */
type Batch<Item> = { Records: Item[] };

/** What the chain's event must have at least. A list of our own type here would narrow the records of the chain. */
type AnyBatch = { Records: object };

/** A batch in the middle of its handler. */
interface Business<Item> {
  readonly deliveries: readonly Delivery<Item>[];
  readonly held: ReadonlyMap<Delivery<Item>, HeldClaim>;
  /** Records with the business key and the meaning of one that is handed over: they share its fate. */
  readonly followers: ReadonlyMap<Delivery<Item>, Delivery<Item>>;
  /** Grows while the claims end. */
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
    // nothing is left to settle; but should somebody fail after us, an answer made of that must name what failed here
    businesses.set(request, { ...business, held: new Map() });
    const told = readReport(request.response, handedOver(business));
    await settleAll(batch, business, told);
    if (told.kind === 'misread') throw misreported(told.fault);
    request.response = merged(batch, business);
  }

  async function sqsIdempotencyOnError(request: MiddyRequest<Batch<Item>, Context>): Promise<void> {
    const business = businesses.take(request);
    if (business === undefined) return;
    await settleAll(batch, business, toldBefore(business));
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
  if (Array.isArray(records)) for (const record of records) lend(record, unheldClaim(operation.name));
}

/** Claims in the order of the lanes. What is refused is reported; what was done before is neither run nor reported. */
async function claimAll<Item extends SqsRecordLike, Context>(
  batch: BatchOperation<Item, Context>,
  request: MiddyRequest<Batch<Item>, Context>,
): Promise<Business<Item>> {
  const { event, context } = request;
  const deliveries = await deliveriesOf(batch, event?.Records, context);
  const held = new Map<Delivery<Item>, HeldClaim>();
  const leaders = new Map<string, { readonly delivery: Delivery<Item>; readonly request: Request }>();
  const followers = new Map<Delivery<Item>, Delivery<Item>>();
  const met = new Set<string>();
  const hasTime = timekeeper(batch, context);

  const claim = async (delivery: Delivery<Item>): Promise<Failure | undefined> => {
    if (delivery.identity.kind !== 'request')
      return delivery.identity.kind === 'unidentified' ? delivery.identity : undefined;
    const { request } = delivery.identity;
    const leader = leaders.get(request.id);
    // of another meaning it follows nobody: the claim refuses it as a reused key
    if (leader !== undefined && leader.request.fingerprint === request.fingerprint) {
      if (leader.delivery.lane !== delivery.lane) return asFailure(refuseToOvertake(request));
      followers.set(delivery, leader.delivery);
      return undefined;
    }
    const begun = await begin(unlessMet(request, met));
    if (begun.kind !== 'run') return asFailure(begun);
    leaders.set(request.id, { delivery, request });
    held.set(delivery, begun.held);
    lend(delivery.record, begun.held.claim);
    return undefined;
  };

  const failures = await eachInTurn(batch, deliveries, () => hasTime(0), claim);
  return { deliveries, held, followers, failed: new Set(failures.keys()), course: watch(request) };
}

/** Its first message stands in another FIFO group: what is behind this one must not overtake a run that has yet to end. */
function refuseToOvertake(request: Request): Answered {
  return refuse(
    request,
    'busy',
    'A message with this key, in another group of the batch, has not ended yet.',
    {
      retryAfter: 1,
    },
  );
}

/** What is known of the handed records. */
type Told = Report | { readonly kind: 'thrown'; readonly error: unknown };

/** What a failure leaves of the handler's word: when it had answered, its report still counts. */
function toldBefore<Item>(business: Business<Item>): Told {
  const { firstError, answered } = business.course();
  if (answered === undefined) return { kind: 'thrown', error: firstError };
  return readReport(answered.value, handedOver(business));
}

function handedOver<Item>({ held }: Business<Item>): ReadonlySet<string> {
  return new Set([...held.keys()].map(({ identifier }) => identifier));
}

/** Ends every claim by what was told of its record. */
async function settleAll<Item, Context>(
  batch: BatchOperation<Item, Context>,
  { held, followers, failed }: Business<Item>,
  told: Told,
): Promise<void> {
  const settled = [...held].map(async ([delivery, claim]) => {
    const failure = await settleOne(claim, delivery.identifier, told);
    if (failure === undefined) return;
    const sharing = [...followers].filter(([, leader]) => leader === delivery).map(([follower]) => follower);
    for (const each of [delivery, ...sharing]) {
      failed.add(each);
      report(batch, failure, each.record);
    }
  });
  await Promise.all(settled);
}

async function settleOne(claim: HeldClaim, identifier: string, told: Told): Promise<Failure | undefined> {
  switch (told.kind) {
    case 'misread':
      hold(claim, 'misread response');
      return { error: misreported(told.fault) };
    case 'thrown':
      await settleError(claim, { firstError: told.error }, undefined);
      return { error: told.error };
    case 'reported':
      return told.failed.has(identifier) ? giveBack(claim) : keep(claim);
    default:
      return told satisfies never;
  }
}

async function giveBack(claim: HeldClaim): Promise<Failure> {
  const error = reportedFailure();
  await settleHook(claim, { kind: 'thrown', error });
  return { error };
}

/** A claim that was lost may have been completed by whoever took it over. */
async function keep(claim: HeldClaim): Promise<Failure | undefined> {
  const settled = await complete(claim, { kind: 'value', value: undefined });
  return settled.kind === 'own' ? undefined : asFailure(settled);
}

function misreported(fault: string): IdempotencyError {
  return new IdempotencyError(
    'options',
    `sqsIdempotency: the handler's response ${fault}; Lambda would misread it.`,
  );
}

function reportedFailure(): Error {
  const error = new Error('The handler reported the record as failed.');
  error.name = 'BatchItemFailure';
  return error;
}

function merged<Item, Context>(
  batch: BatchOperation<Item, Context>,
  { deliveries, failed }: Business<Item>,
): unknown {
  return respond(
    deliveries.map(({ identifier }) => identifier),
    new Set([...failed].map(({ identifier }) => identifier)),
    batch.onFailures,
  );
}
