import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../domain/outcome.ts';
import { expirySeconds, judge, type OnceRecord } from '../domain/record.ts';
import type { Transition } from '../domain/transition.ts';
import { IdempotencyError, isIdempotencyError } from '../errors.ts';
import type { Written } from '../store/store.ts';
import { type Answered, refuse, refuseBusy, refuseInDoubt, replay } from './answers.ts';
import type { HeldClaim } from './claim.ts';
import { encodeFor, reportCompleted } from './encode.ts';
import { toRejection } from './rejection.ts';
import { callLimits, timeLeft } from './request.ts';
import { type Ended, type Verdict, verdictOf } from './verdict.ts';

/**
 * Whose answer the caller gets: the handler's own, with what was decided about the claim, or (the claim was lost) the one that
 * stands.
 */
export type Settled = { readonly kind: 'own'; readonly verdict: 'complete' | 'release' | 'hold' } | Answered;

/** How long a completion is tried, with pauses, before the real answer goes out and the claim is left to its lease. */
const longestEffort = 5000;
const pauses = [50, 150, 400, 800];

/** Ends a claim by what its handler did. Never throws: a handler's success is not taken back. */
export async function settle(
  held: HeldClaim,
  ended: Ended,
  verdict: Verdict = verdictOf(held.request.operation, ended),
): Promise<Settled> {
  try {
    return await carryOut(held, ended, verdict);
  } catch {
    return hold(held, 'unreadable');
  }
}

async function carryOut(held: HeldClaim, ended: Ended, verdict: Verdict): Promise<Settled> {
  switch (verdict) {
    case 'complete':
    case 'record':
      return complete(held, outcomeOf(ended));
    case 'release':
      return release(held, ended.kind === 'returned' ? 'transient result' : nameOf(ended.error));
    case 'hold':
      return hold(held, ended.kind === 'returned' ? 'result' : nameOf(ended.error));
    default:
      return verdict satisfies never;
  }
}

function outcomeOf(ended: Ended): Outcome {
  return ended.kind === 'returned'
    ? { kind: 'value', value: ended.value }
    : { kind: 'rejection', rejection: toRejection(ended.error) };
}

/** Ends the claim with an outcome. What cannot be stored still completes, as not kept: the effect has happened. */
export async function complete(held: HeldClaim, outcome: Outcome): Promise<Settled> {
  held.done();
  const { operation } = held.request;
  const encoded = encodeFor(operation, outcome);
  if (encoded.kind === 'server-error') {
    const reason = `status ${encoded.status}`;
    return operation.onLapse.kind === 'reconcile' ? hold(held, reason) : release(held, reason);
  }
  const now = operation.store.now();
  const written = await persist(held, 'complete', {
    kind: 'complete',
    held,
    outcome: encoded.text,
    endedAt: now,
    expiresAt: expirySeconds(now + operation.retention),
  });
  if (written === 'failed') return { kind: 'own', verdict: 'complete' };
  if (written.kind === 'refused') return lost(held, written.record);
  reportCompleted(operation, held.id, encoded);
  return { kind: 'own', verdict: 'complete' };
}

/** Ends the claim without an outcome: the next delivery runs. `forget` when nothing had run. */
export async function release(held: HeldClaim, reason: string, forget = false): Promise<Settled> {
  held.done();
  const { operation } = held.request;
  const now = operation.store.now();
  const expiresAt = expirySeconds(now + operation.retention);
  const written = await persist(held, 'release', { kind: 'release', held, forget, endedAt: now, expiresAt });
  if (written === 'failed') return { kind: 'own', verdict: 'release' };
  const subject = { operation: operation.name, id: held.id };
  if (written.kind === 'refused') operation.observe({ ...subject, type: 'lease-lost', at: 'release' });
  else operation.observe({ ...subject, type: 'released', reason });
  return { kind: 'own', verdict: 'release' };
}

/** Leaves the claim to its lease: the effect may still be happening, or may have happened. */
export function hold(held: HeldClaim, reason: string): Settled {
  held.done();
  const { operation } = held.request;
  operation.observe({ type: 'held', operation: operation.name, id: held.id, reason });
  return { kind: 'own', verdict: 'hold' };
}

/** Retried within the time that is left, since the answer is known and only has to be written down. */
async function persist(
  { request, id }: HeldClaim,
  at: 'complete' | 'release',
  transition: Transition,
): Promise<Written | 'failed'> {
  const { store, name, observe } = request.operation;
  const started = performance.now();
  for (const pause of [...pauses, undefined]) {
    try {
      return await store.write(transition, callLimits(request));
    } catch (error) {
      const spent = performance.now() - started;
      const goOn = pause !== undefined && spent + pause < Math.min(longestEffort, timeLeft(request));
      if (!goOn) {
        observe({ type: 'store-failed', operation: name, id, at, error: asStoreError(error) });
        return 'failed';
      }
      await sleep(pause);
    }
  }
  return 'failed';
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

function nameOf(error: unknown): string {
  return (error as { name?: string } | null)?.name ?? typeof error;
}

function asStoreError(error: unknown): IdempotencyError {
  return isIdempotencyError(error)
    ? error
    : new IdempotencyError('store', 'The idempotency store failed.', { cause: error });
}
