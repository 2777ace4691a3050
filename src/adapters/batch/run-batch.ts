import { type Claim, unheldClaim } from '../../engine/claim.ts';
import { contain } from '../../engine/contain.ts';
import { fromRejection } from '../../engine/rejection.ts';
import { deadlineOf, type Request } from '../../engine/request.ts';
import { type Answer, runOnce } from '../../engine/run.ts';
import { isSwitchedOff } from '../../engine/switch.ts';
import { isIdempotencyError } from '../../errors.ts';
import { type Place, runInLanes } from './lanes.ts';
import type { BatchOperation } from './options.ts';

/** A record on its way: what it is, and who it turned out to be. */
export interface Delivery<Item> {
  readonly record: Item;
  /** What the response names it by. */
  readonly identifier: string;
  readonly identity: Identified;
  /** The order that it stands in: a FIFO group, a partition key; `undefined` where none is promised. */
  readonly lane?: string;
}

/** A settled identity, or what is wrong with the record; a record without a key fails by itself. */
export type Identified =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'unidentified'; readonly error: unknown }
  /** Switched off: nobody was asked. */
  | { readonly kind: 'unprotected' };

/** Why a record is reported as failed. */
export interface Failure {
  readonly error: unknown;
}

type RecordHandler<Item, Context> = (record: Item, context: Context, claim: Claim) => unknown;

/** Settles the identity of a record. */
export async function identify<Item, Context>(
  batch: BatchOperation<Item, Context>,
  record: Item,
  context: Context,
): Promise<Identified> {
  if (isSwitchedOff()) return { kind: 'unprotected' };
  try {
    return { kind: 'request', request: await batch.identify(record, context) };
  } catch (error) {
    if (isIdempotencyError(error)) {
      batch.operation.observe({ type: 'refused', operation: batch.operation.name, code: error.code });
    }
    return { kind: 'unidentified', error };
  }
}

/** Runs every record of a batch, each under a claim of its own, and yields the failures. */
export async function runBatch<Item, Context>(
  batch: BatchOperation<Item, Context>,
  deliveries: readonly Delivery<Item>[],
  context: Context,
  handler: RecordHandler<Item, Context>,
): Promise<Map<Delivery<Item>, Failure>> {
  const hasTime = timekeeper(batch, context);
  const met = new Set<string>();
  let slowest = 0;
  const runOne = async (delivery: Delivery<Item>): Promise<Failure | undefined> => {
    const started = performance.now();
    const failure = await attempt(() => failureOf(batch, delivery, context, handler, met));
    slowest = Math.max(slowest, performance.now() - started);
    return failure;
  };
  return eachInTurn(batch, deliveries, () => hasTime(slowest), runOne);
}

/**
 * Does something with every record, as the order of its lane and the batch's concurrency allow, and yields the failures,
 * reported. A record whose time does not suffice, or that stands behind a failure in its lane, is not touched. Whatever
 * goes wrong with one record is the failure of that record alone.
 */
export async function eachInTurn<Item, Context>(
  batch: BatchOperation<Item, Context>,
  deliveries: readonly Delivery<Item>[],
  hasTime: () => boolean,
  work: (delivery: Delivery<Item>) => Promise<Failure | undefined>,
): Promise<Map<Delivery<Item>, Failure>> {
  return runInLanes(deliveries, placeOf, batch.concurrency, async (delivery, stopped) => {
    const unattempted = stopped ? behindFailure() : hasTime() ? undefined : tooLate();
    const failure = unattempted === undefined ? await attempt(() => work(delivery)) : { error: unattempted };
    return failure === undefined ? undefined : report(batch, failure, delivery.record);
  });
}

function placeOf<Item>({ identity, identifier, lane }: Delivery<Item>): Place {
  const key = identity.kind === 'request' ? identity.request.id : identifier;
  return lane === undefined ? { key } : { key, lane };
}

/** Whether the invocation has time for another record that takes as long as the slowest did. */
export function timekeeper<Item, Context>(
  { operation, floor }: BatchOperation<Item, Context>,
  context: Context,
): (slowest: number) => boolean {
  const { store } = operation;
  const deadline = deadlineOf(context, store.now()) ?? Number.POSITIVE_INFINITY;
  return (slowest) => deadline - store.now() >= Math.max(floor, slowest);
}

/** Why a record behind a failure of its group is not touched. */
function behindFailure(): Error {
  return named('NotAttempted', 'A record before it in its group failed.');
}

/** Why a record at the end of a batch is not touched. */
function tooLate(): Error {
  return named('NotAttempted', 'Too little of the invocation is left for another record.');
}

async function failureOf<Item, Context>(
  { operation }: BatchOperation<Item, Context>,
  { record, identity }: Delivery<Item>,
  context: Context,
  handler: RecordHandler<Item, Context>,
  met: Set<string>,
): Promise<Failure | undefined> {
  switch (identity.kind) {
    case 'unidentified':
      return identity;
    case 'unprotected':
      operation.observe({ type: 'bypassed', operation: operation.name, reason: 'disabled' });
      await handler(record, context, unheldClaim(operation));
      return undefined;
    case 'request':
      return asFailure(
        await runOnce(unlessMet(identity.request, met), (claim) => handler(record, context, claim)),
      );
    default:
      return identity satisfies never;
  }
}

/** A record whose key was met before in this batch does not wait: nobody here will still write what its twin left. */
export function unlessMet(request: Request, met: Set<string>): Request {
  if (met.has(request.id)) return { ...request, operation: { ...request.operation, wait: 0 } };
  met.add(request.id);
  return request;
}

async function attempt(work: () => Promise<Failure | undefined>): Promise<Failure | undefined> {
  try {
    return await work();
  } catch (error) {
    return { error };
  }
}

/** Done counts as done, whoever did it; everything else comes again. */
export function asFailure(answer: Answer): Failure | undefined {
  switch (answer.kind) {
    case 'returned':
      return answer.verdict === 'complete' ? undefined : { error: unfinished(answer.verdict) };
    case 'thrown':
      return { error: answer.error };
    case 'replay':
      return answer.outcome.kind === 'rejection'
        ? { error: fromRejection(answer.outcome.rejection) }
        : undefined;
    case 'refused':
      // the operation was carried out, and a batch has no use for its answer
      return answer.error.code === 'outcome-not-kept' ? undefined : { error: answer.error };
    default:
      return answer satisfies never;
  }
}

/** A result that ended the claim without an outcome is no success. */
function unfinished(verdict: string): Error {
  return named('UnfinishedRecord', `The result ended in "${verdict}" and not in "complete".`);
}

/** An error that is told by its name. */
export function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** Tells the user's hook, which must not change what happens. */
export function report<Item, Context>(
  batch: BatchOperation<Item, Context>,
  failure: Failure,
  record: Item,
): Failure {
  contain('onRecordFailure', () => batch.onRecordFailure(failure.error, record));
  return failure;
}
