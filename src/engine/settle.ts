import { toMilliseconds } from '../domain/duration.ts';
import { closed } from '../domain/journal.ts';
import { decodeOutcome, type Outcome } from '../domain/outcome.ts';
import { expirySeconds, judge, type OnceRecord } from '../domain/record.ts';
import { isIdempotencyError } from '../errors.ts';
import {
  type Answered,
  refuse,
  refuseBusy,
  refused,
  refuseInDoubt,
  replay,
  replayOutcome,
} from './answers.ts';
import type { HeldClaim } from './claim.ts';
import type { Ending } from './commit.ts';
import { defaultSettleAfter } from './effect.ts';
import { encodeFor, reportCompleted } from './encode.ts';
import { persist } from './persist.ts';
import { toRejection } from './rejection.ts';
import { type Ended, type Verdict, verdictOf } from './verdict.ts';

/**
 * Whose answer the caller gets: the handler's own, with what was decided about the claim, or (the claim was lost) the one that
 * stands.
 */
export type Settled = { readonly kind: 'own'; readonly verdict: 'complete' | 'release' | 'hold' } | Answered;

/** Of an effect that this attempt took over and did not perform, in milliseconds. */
const defaultSettling = toMilliseconds(defaultSettleAfter) ?? 0;

/** Ends a claim by what its handler did. Never throws: a handler's success is not taken back. */
export async function settle(
  held: HeldClaim,
  ended: Ended,
  verdict: Verdict = verdictOf(held.request.operation, ended),
): Promise<Settled> {
  try {
    const { ending } = held.committer;
    // what stands is what was committed, whatever its handler did afterwards
    if (ending?.kind === 'committed' && ended.kind === 'thrown') {
      held.done();
      return replayOutcome(held.request, decodeOutcome(ending.outcome));
    }
    const settled = await carryOut(held, ended, verdict);
    return ended.kind === 'thrown' && settled.kind === 'own'
      ? (refusal(held, ended.error) ?? settled)
      : settled;
  } catch {
    return hold(held, 'unreadable');
  }
}

/** What the claim itself refused its handler (the store was down, the lease was over) is an answer, as before a run. */
function refusal({ journal, request }: HeldClaim, error: unknown): Answered | undefined {
  return isIdempotencyError(error) && journal.refused(error) ? refused(request, error) : undefined;
}

async function carryOut(held: HeldClaim, ended: Ended, verdict: Verdict): Promise<Settled> {
  switch (verdict) {
    case 'complete':
    case 'record':
      return complete(held, outcomeOf(ended));
    case 'release':
    case 'hold':
      if (ended.kind === 'thrown' && isOfEffect(held, ended.error, verdict))
        return stopped(held, ended.error);
      return verdict === 'release' ? release(held, reasonOf(ended)) : hold(held, reasonOf(ended));
    default:
      return verdict satisfies never;
  }
}

/**
 * Whether the handler ended because an effect is undecided: `perform` said so, or what it threw leaves it open and is no
 * failure to release on. Any other failure does to the claim what it does without a journal, which survives both.
 */
function isOfEffect({ journal }: HeldClaim, error: unknown, verdict: 'release' | 'hold'): boolean {
  return journal.hasOpen() && (isInDoubt(error) || (verdict === 'hold' && journal.threw(error)));
}

/**
 * The handler did not get past an effect, so that effect is all there is to find out, unless the operation has others outside the
 * journal. A caller that was told nothing yet is told that it is in doubt.
 */
async function stopped(held: HeldClaim, error: unknown): Promise<Settled> {
  const { request } = held;
  const settled = await doubt(held, request.operation.onLapse.kind === 'reconcile' ? undefined : 'effects');
  return isInDoubt(error) ? refuseInDoubt(request) : settled;
}

/**
 * Ends the claim over an open effect, without an outcome: whoever comes next asks about it. Where the handler went on to an
 * answer, the operation's `onLapse` has its say as well.
 */
async function doubt(held: HeldClaim, doubtOf: 'effects' | undefined): Promise<Settled> {
  held.done();
  const { journal, id, owner, fence, dueAt, request } = held;
  // what is still running sends what it likes
  if (journal.running.size > 0) return hold(held, 'an effect is still running');
  const { store, retention, skew, name, observe } = request.operation;
  const now = store.now();
  const written = await persist(request, 'doubt', {
    kind: 'doubt',
    seen: { id, owner, fence, state: 'claimed', dueAt },
    examinedBy: owner,
    doubtOf,
    expiresAt: expirySeconds(now + skew + retention),
    dueAt: now + skew + journal.settlesIn(defaultSettling),
    effects: journal.atEnd(now),
  });
  const subject = { operation: name, id };
  if (written !== 'failed' && written.kind === 'refused') {
    observe({ ...subject, type: 'lease-lost', at: 'complete' });
  } else {
    observe({ ...subject, type: 'held', reason: 'an effect is undecided' });
  }
  return { kind: 'own', verdict: 'hold' };
}

function isInDoubt(error: unknown): boolean {
  return isIdempotencyError(error) && error.code === 'in-doubt';
}

function outcomeOf(ended: Ended): Outcome {
  return ended.kind === 'returned'
    ? { kind: 'value', value: ended.value }
    : { kind: 'rejection', rejection: toRejection(ended.error) };
}

/**
 * Ends the claim with an outcome, but never over an open effect. What cannot be stored still completes, as not kept: the
 * effect has happened.
 */
export async function complete(held: HeldClaim, outcome: Outcome): Promise<Settled> {
  const { ending, isClaimed } = held.committer;
  if (ending?.kind === 'committed') return amend(held, outcome, ending);
  if (ending?.kind === 'standing') return stands(held, ending.answered);
  if (!isClaimed) return uncommitted(held);
  if (held.journal.isOpen()) return doubt(held, undefined);
  held.done();
  const { operation } = held.request;
  const encoded = encodeFor(operation, outcome);
  if (encoded.kind === 'server-error') {
    const reason = `status ${encoded.status}`;
    return operation.onLapse.kind === 'reconcile' ? hold(held, reason) : release(held, reason);
  }
  const now = operation.store.now();
  const effects = held.journal.all();
  const written = await persist(held.request, 'complete', {
    kind: 'complete',
    held,
    outcome: encoded.text,
    endedAt: now,
    expiresAt: expirySeconds(now + operation.retention),
    effects: effects === undefined ? undefined : closed(effects),
  });
  if (written === 'failed') return { kind: 'own', verdict: 'complete' };
  if (written.kind === 'refused') return lost(held, written.record);
  reportCompleted(operation, held.id, encoded);
  return { kind: 'own', verdict: 'complete' };
}

/** The answer was committed; where middlewares have changed it since, what left is what replays. */
async function amend(
  held: HeldClaim,
  outcome: Outcome,
  committed: Extract<Ending, { kind: 'committed' }>,
): Promise<Settled> {
  held.done();
  const encoded = encodeFor(held.request.operation, outcome);
  if (encoded.kind === 'kept' && encoded.text !== committed.outcome) {
    const transition = { kind: 'amend', held: committed.held, outcome: encoded.text } as const;
    await persist(held.request, 'complete', transition);
  }
  return { kind: 'own', verdict: 'complete' };
}

/** Nothing to write: it was committed, or there never was a claim. */
function leave(held: HeldClaim, verdict: 'release' | 'hold'): Settled {
  const { ending } = held.committer;
  if (ending?.kind === 'standing') return stands(held, ending.answered);
  held.done();
  return { kind: 'own', verdict: ending === undefined ? verdict : 'complete' };
}

/** Somebody else committed first: everybody gets that answer. */
function stands(held: HeldClaim, answered: Answered): Settled {
  held.done();
  return answered;
}

/** Nothing was written, so nothing keeps a duplicate from running: that must not look like success. */
function uncommitted(held: HeldClaim): Settled {
  held.done();
  const { operation } = held.request;
  const message = `The handler of "${operation.name}" returned without claim.commit, which claim: 'at-commit' asks for.`;
  process.emitWarning(`lambda-once: ${message}`);
  return refuse(held.request, 'options', message);
}

/** Ends the claim without an outcome: the next delivery runs. `forget` when nothing had run. */
export async function release(held: HeldClaim, reason: string, forget = false): Promise<Settled> {
  const { journal, request, committer } = held;
  if (journal.running.size > 0) return hold(held, 'an effect is still running');
  if (committer.ending !== undefined || !committer.isClaimed) return leave(held, 'release');
  held.done();
  const { operation } = request;
  const now = operation.store.now();
  const written = await persist(request, 'release', {
    kind: 'release',
    held,
    forget,
    endedAt: now,
    expiresAt: expirySeconds(now + operation.retention),
    effects: journal.atEnd(now),
    dueAt: journal.hasOpen() ? now + operation.skew + journal.settlesIn(defaultSettling) : undefined,
  });
  if (written === 'failed') return { kind: 'own', verdict: 'release' };
  const standing = written.kind === 'refused' ? written.record : undefined;
  // a commit whose reply was lost has landed after all
  if (standing?.state === 'completed' && standing.owner === held.owner) return replay(request, standing);
  const subject = { operation: operation.name, id: held.id };
  if (written.kind === 'refused') operation.observe({ ...subject, type: 'lease-lost', at: 'release' });
  else operation.observe({ ...subject, type: 'released', reason });
  return { kind: 'own', verdict: 'release' };
}

/** Leaves the claim to its lease: the effect may still be happening, or may have happened. */
export function hold(held: HeldClaim, reason: string): Settled {
  const { ending, isClaimed } = held.committer;
  if (ending !== undefined || !isClaimed) return leave(held, 'hold');
  held.done();
  const { operation } = held.request;
  operation.observe({ type: 'held', operation: operation.name, id: held.id, reason });
  return { kind: 'own', verdict: 'hold' };
}

/** The owner was replaced. Its caller gets what stands now, never the answer of a run that does not count. */
function lost({ request, id }: HeldClaim, record: OnceRecord | undefined): Settled {
  const { operation, fingerprint } = request;
  operation.observe({ type: 'lease-lost', operation: operation.name, id, at: 'complete' });
  const judgement = judge(record, { fingerprint, now: operation.store.now(), skew: operation.skew });
  if (record !== undefined && judgement === 'replay') return replay(request, record);
  if (record !== undefined && judgement === 'busy') return refuseBusy(request, record);
  if (judgement === 'lapsed' || judgement === 'in-doubt') return refuseInDoubt(request);
  return refuse(request, 'lease-lost', 'The lease ran out and the claim was given away.', { retryAfter: 1 });
}

function reasonOf(ended: Ended): string {
  return ended.kind === 'returned' ? 'result' : nameOf(ended.error);
}

function nameOf(error: unknown): string {
  return (error as { name?: string } | null)?.name ?? typeof error;
}
