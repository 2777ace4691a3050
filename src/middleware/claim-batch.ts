import { deliveriesOf } from '../adapters/batch/idempotent-sqs.ts';
import type { BatchOperation } from '../adapters/batch/options.ts';
import type { SqsRecordLike } from '../adapters/batch/payload.ts';
import {
  asFailure,
  type Delivery,
  eachInTurn,
  type Failure,
  named,
  timekeeper,
  unlessMet,
} from '../adapters/batch/run-batch.ts';
import { type Answered, refuse } from '../engine/answers.ts';
import { begin } from '../engine/begin.ts';
import type { HeldClaim } from '../engine/claim.ts';
import type { Request } from '../engine/request.ts';
import { lend } from './claim-of.ts';
import { type Course, watch } from './course.ts';
import type { MiddyRequest } from './middy.ts';

/** An SQS event, or what is left of it for the handler. */
export type Batch<Item> = { Records: Item[] };

/** A batch in the middle of its handler. */
export interface BatchBusiness<Item> {
  readonly deliveries: readonly Delivery<Item>[];
  readonly held: ReadonlyMap<Delivery<Item>, HeldClaim>;
  /** Records with the business key and the meaning of one that is handed over: they share its fate. */
  readonly followers: ReadonlyMap<Delivery<Item>, Delivery<Item>>;
  /** Grows while the claims end. */
  readonly failed: Set<Delivery<Item>>;
  readonly course: () => Course;
}

/** Claims in the order of the lanes. What is refused is reported; what was done before is neither run nor reported. */
export async function claimBatch<Item extends SqsRecordLike, Context>(
  batch: BatchOperation<Item, Context>,
  request: MiddyRequest<Batch<Item>, Context>,
): Promise<BatchBusiness<Item>> {
  const { event, context } = request;
  const deliveries = await deliveriesOf(batch, event?.Records, context);
  const held = new Map<Delivery<Item>, HeldClaim>();
  const leaders = new Map<string, { readonly delivery: Delivery<Item>; readonly request: Request }>();
  const followers = new Map<Delivery<Item>, Delivery<Item>>();
  const met = new Set<string>();
  const hasTime = timekeeper(batch, context);

  const claim = async (delivery: Delivery<Item>): Promise<Failure | undefined> => {
    if (delivery.identity.kind === 'unidentified') return delivery.identity;
    // the switch was thrown after this batch began: not run, so not to be acknowledged
    if (delivery.identity.kind === 'unprotected')
      return { error: named('NotAttempted', 'Switched off in mid-batch.') };
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

/** The identifiers of what the handler is given. */
export function handedOver<Item>({ held }: BatchBusiness<Item>): ReadonlySet<string> {
  return new Set([...held.keys()].map(({ identifier }) => identifier));
}
