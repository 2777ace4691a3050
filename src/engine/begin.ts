import { judge } from '../domain/record.ts';
import { isIdempotencyError } from '../errors.ts';
import { type Begun, refuse, refuseBusy, refused, replay } from './answers.ts';
import { type HeldClaim, heldClaim, unmadeClaim } from './claim.ts';
import { answerOpen } from './open.ts';
import { isReentrant } from './reentrance.ts';
import { isTooLate, type Request } from './request.ts';
import { release } from './settle.ts';
import { waitForNews } from './wait.ts';
import { claimAbsent, type Found, type Standing } from './write-claim.ts';

/** Each round answers somebody else's write; more than a few in a row is a storm, and the answer is `busy`. */
const maximumRounds = 6;

/** Claims, or says why not. One request to the store when the key is new, replayed, busy or reused. */
export async function begin(request: Request): Promise<Begun> {
  if (isReentrant(request.id))
    return refuse(request, 'reentrant', 'The operation was called inside itself with the same key.');
  if (isTooLate(request)) {
    return refuse(request, 'lease-lost', 'Too little of the invocation is left to start.', { retryAfter: 1 });
  }
  if (request.operation.claim === 'at-commit') return { kind: 'run', held: unmadeClaim(request) };
  try {
    return await contend(request, await claimAbsent(request));
  } catch (error) {
    if (!isIdempotencyError(error)) throw error;
    const { operation, id } = request;
    // `options` here means that there is no table to write to: nobody but the operator is told why
    if (error.code === 'options') process.emitWarning(`lambda-once: ${error.message}`);
    if (error.code === 'store' || error.code === 'options') {
      operation.observe({ type: 'store-failed', operation: operation.name, id, at: 'claim', error });
    }
    return refused(request, error);
  }
}

async function contend(request: Request, first: Found): Promise<Begun> {
  let found = first;
  for (let round = 0; round < maximumRounds; round += 1) {
    if (found.kind === 'won') return startInTime(request, heldClaim(request, found.record));
    const next = await answerStanding(request, found);
    if (next.kind !== 'won' && next.kind !== 'standing') return next;
    found = next;
  }
  return refuse(request, 'busy', 'Many callers contend for this key.', { retryAfter: 1 });
}

/**
 * Own lease first: the claim may have come long after it was sent (a frozen process, a slow reconcile, a wait). Past its
 * lease somebody else may run, so this one must not start.
 */
async function startInTime(request: Request, held: HeldClaim): Promise<Begun> {
  const { operation, signal } = request;
  const isOver = operation.store.now() >= held.leaseUntil || signal?.aborted === true;
  if (!isOver && !isTooLate(request)) return { kind: 'run', held };
  await release(held, 'too late to start', held.claim.attempt === 1);
  return refuse(request, 'lease-lost', 'The claim came too late to start.', { retryAfter: 1 });
}

/** One look at the record that stands in the way: an answer, or a further attempt to claim. */
async function answerStanding(request: Request, { record, asOf }: Standing): Promise<Begun | Found> {
  const { operation, fingerprint } = request;
  if (record === undefined) return claimAbsent(request);
  const judgement = judge(record, { fingerprint, now: asOf, skew: operation.skew });
  switch (judgement) {
    case 'absent':
      return claimAbsent(request, record);
    case 'mismatch':
      return refuse(
        request,
        'key-reused',
        'This key was used before for a request that meant something else.',
      );
    case 'replay':
      return replay(request, record);
    case 'busy': {
      const news = await waitForNews(request, record);
      return news.kind === 'news' ? news.found : refuseBusy(request, record);
    }
    case 'free':
    case 'lapsed':
    case 'in-doubt':
      return answerOpen(request, record, judgement);
    default:
      return judgement satisfies never;
  }
}
