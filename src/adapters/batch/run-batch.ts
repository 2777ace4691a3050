import { type Claim, unheldClaim } from '../../engine/claim.ts';
import { deadlineOf, type LambdaContext, type Request } from '../../engine/request.ts';
import { type Answer, isSwitchedOff, runOnce } from '../../engine/run.ts';
import { fromRejection } from '../../engine/verdict.ts';
import { IdempotencyError, isIdempotencyError } from '../../errors.ts';
import { type Lane, runLanes } from './lanes.ts';
import type { BatchOperation } from './options.ts';

/** A record on its way: what it is, and who it turned out to be. */
export interface Delivery<Item> {
  readonly record: Item;
  /** What the response names it by. */
  readonly identifier: string;
  readonly identity: Identified;
}

/** A settled identity, or what is wrong with the record; a record without a key fails by itself. */
export type Identified =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'unidentified'; readonly error: unknown };

/** Why a record is reported as failed. */
export interface Failure {
  readonly error: unknown;
}

type RecordHandler<Item, Context> = (record: Item, context: Context, claim: Claim) => unknown;

/** Settles the identity of a record. The switch that turns us off leaves it unasked. */
export async function identify<Item, Context>(
  batch: BatchOperation<Item, Context>,
  record: Item,
  context: Context,
): Promise<Identified> {
  try {
    return { kind: 'request', request: await batch.identify(record, context) };
  } catch (error) {
    if (isIdempotencyError(error)) {
      batch.operation.observe({ type: 'refused', operation: batch.operation.name, code: error.code });
    }
    return { kind: 'unidentified', error };
  }
}

/**
 * Runs every record of a batch, each under a claim of its own, and yields the failures. A record whose time does not
 * suffice, or that stands behind a failure in its lane, is neither claimed nor run.
 */
export async function runBatch<Item, Context>(
  batch: BatchOperation<Item, Context>,
  lanes: readonly Lane<Delivery<Item>>[],
  context: Context,
  handler: RecordHandler<Item, Context>,
): Promise<Map<Delivery<Item>, Failure>> {
  const hasTime = timekeeper(batch, context);
  let slowest = 0;
  return runLanes(lanes, batch.concurrency, async (delivery, stopped) => {
    const { record } = delivery;
    const fail = (error: unknown): Failure => report(batch, { error }, record);
    if (stopped) return fail(behindFailure());
    if (!hasTime(slowest)) return fail(tooLate());
    const started = performance.now();
    const error = await failureOf(batch, delivery, context, handler);
    slowest = Math.max(slowest, performance.now() - started);
    return error === undefined ? undefined : fail(error.error);
  });
}

/** Whether the invocation has time for another record that takes as long as the slowest did. */
export function timekeeper<Item, Context>(
  { operation, floor }: BatchOperation<Item, Context>,
  context: Context,
): (slowest: number) => boolean {
  const { store } = operation;
  const deadline = deadlineOf(context as LambdaContext | undefined, store.now()) ?? Number.POSITIVE_INFINITY;
  return (slowest) => deadline - store.now() >= Math.max(floor, slowest);
}

/** Why a record behind a failure of its group is not touched. */
export function behindFailure(): IdempotencyError {
  return new IdempotencyError('busy', 'A record before it in its group failed.');
}

/** Why a record at the end of a batch is not touched. */
export function tooLate(): IdempotencyError {
  return new IdempotencyError('lease-lost', 'Too little of the invocation is left for another record.');
}

async function failureOf<Item, Context>(
  { operation }: BatchOperation<Item, Context>,
  { record, identity }: Delivery<Item>,
  context: Context,
  handler: RecordHandler<Item, Context>,
): Promise<Failure | undefined> {
  if (isSwitchedOff()) {
    operation.observe({ type: 'bypassed', operation: operation.name, reason: 'disabled' });
    return runUnprotected(() => handler(record, context, unheldClaim(operation.name)));
  }
  if (identity.kind === 'unidentified') return identity;
  return asFailure(await runOnce(identity.request, (claim) => handler(record, context, claim)));
}

async function runUnprotected(work: () => unknown): Promise<Failure | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Done counts as done, whoever did it; everything else comes again. */
export function asFailure(answer: Answer): Failure | undefined {
  switch (answer.kind) {
    case 'returned':
      return answer.end === 'completed' ? undefined : { error: new Error(`The result was ${answer.end}.`) };
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

/** Tells the user's hook, which must not change what happens. */
export function report<Item, Context>(
  batch: BatchOperation<Item, Context>,
  failure: Failure,
  record: Item,
): Failure {
  try {
    batch.onRecordFailure(failure.error, record);
  } catch (error) {
    process.emitWarning(`lambda-once: onRecordFailure threw ${(error as Error)?.name}`);
  }
  return failure;
}
