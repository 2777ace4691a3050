import { decodeOutcome } from '../domain/outcome.ts';
import { expirySeconds, nextFence, type OnceRecord, type Texts } from '../domain/record.ts';
import type { IdempotencyError } from '../errors.ts';
import { type Answered, refuseInDoubt, replayOutcome } from './answers.ts';
import { newOwner } from './claim.ts';
import { knownEffect } from './effects-known.ts';
import { encodeFor, reportCompleted } from './encode.ts';
import { type Examined, examine, verdictOf } from './examine.ts';
import { askOperation, lapsedClaim } from './reconcile.ts';
import { callLimits, questionTime, type Request } from './request.ts';
import { type Found, takeOver } from './write-claim.ts';

/** A record without an outcome whose owner is not believed any more: it let go, or was never heard of again. */
type Open = 'free' | 'lapsed' | 'in-doubt';

/**
 * Nothing here runs again blindly. Effects that somebody began are asked about first, one by one; then, unless the last
 * attempt ended by itself, the operation says what to do.
 */
export async function answerOpen(
  request: Request,
  record: OnceRecord,
  judgement: Open,
): Promise<Answered | Found> {
  const examined = await examineEffects(request, record);
  if (examined.undecided !== undefined) return leaveInDoubt(request, record, examined);
  const { found } = examined;
  if (judgement === 'free') return takeOver(request, record, 'released', found);
  if (record.doubtOf === 'effects') return takeOver(request, record, judgement, found);
  const { onLapse } = request.operation;
  switch (onLapse.kind) {
    case 'hold':
      return leaveInDoubt(request, record, examined);
    case 'rerun':
      return takeOver(request, record, judgement, found);
    case 'reconcile':
      return reconcile(request, record, judgement, found);
    default:
      return onLapse satisfies never;
  }
}

/** An effect that this process has not met is asked about by whoever performs it: no outcome is recorded before that. */
async function examineEffects(request: Request, record: OnceRecord): Promise<Examined> {
  const { operation, id } = request;
  const { name, store, skew, observe } = operation;
  return examine(
    record,
    (effect) => knownEffect(operation, effect) ?? 'later',
    { now: () => store.now(), skew, within: () => questionTime(request) },
    (effect, decision) =>
      observe({ type: 'reconciled', operation: name, id, ...verdictOf(decision), effect }),
  );
}

async function reconcile(
  request: Request,
  record: OnceRecord,
  judgement: 'lapsed' | 'in-doubt',
  found: Texts,
): Promise<Answered | Found> {
  const { operation, identity, id } = request;
  const { name, store, skew, observe, onLapse } = operation;
  if (onLapse.kind !== 'reconcile') return leaveInDoubt(request, record, { found });
  const terms = { now: () => store.now(), skew, within: () => questionTime(request) };
  const verdict = await askOperation(onLapse, lapsedClaim(record, name, identity), record, terms);
  observe({ type: 'reconciled', operation: name, id, ...verdictOf(verdict) });
  switch (verdict.kind) {
    case 'found':
      return completeFound(request, record, verdict.value, found);
    case 'absent':
      return takeOver(request, record, judgement, found);
    case 'settling': {
      const { kind: why, from } = verdict;
      return leaveInDoubt(request, record, { found, undecided: { why, from } });
    }
    case 'unknown':
    case 'failed':
      return leaveInDoubt(request, record, { found });
    default:
      return verdict satisfies never;
  }
}

async function completeFound(
  request: Request,
  seen: OnceRecord,
  value: unknown,
  found: Texts,
): Promise<Answered | Found> {
  const { operation } = request;
  const { store, retention } = operation;
  const encoded = encodeFor(operation, { kind: 'value', value });
  if (encoded.kind === 'server-error') return leaveInDoubt(request, seen, { found });
  const now = store.now();
  const written = await store.write(
    {
      kind: 'resolve',
      seen,
      owner: newOwner(),
      fence: nextFence(now, seen.fence),
      to: 'completed',
      outcome: encoded.text,
      endedAt: now,
      expiresAt: expirySeconds(now + retention),
      effects: found,
    },
    callLimits(request),
  );
  if (written.kind === 'refused') return { kind: 'standing', record: written.record, asOf: now };
  reportCompleted(operation, request.id, encoded);
  // everybody gets the stored form; where it cannot be stored, at least whoever asked gets what was found
  return replayOutcome(
    request,
    encoded.kind === 'kept' ? decodeOutcome(encoded.text) : { kind: 'value', value },
  );
}

/**
 * Says so in the record, which from then on outlives its retention: its next retry must not be taken for a stranger. An
 * answer that fails to be written down is still the answer.
 */
async function leaveInDoubt(
  request: Request,
  record: OnceRecord,
  { found, undecided }: Examined,
): Promise<Answered | Found> {
  const { name, store, retention, observe } = request.operation;
  const now = store.now();
  const longEnough = record.expiresAt >= expirySeconds(now + retention / 2);
  const hasNews = record.state !== 'in-doubt' || Object.keys(found).length > 0;
  if (!hasNews && longEnough) return refuseInDoubt(request);
  const written = await store
    .write(
      {
        kind: 'doubt',
        seen: record,
        examinedBy: newOwner(),
        doubtOf: record.state === 'released' ? 'effects' : record.doubtOf,
        expiresAt: Math.max(record.expiresAt, expirySeconds(now + retention)),
        dueAt: undecided?.from ?? record.dueAt ?? now,
        effects: found,
      },
      callLimits(request),
    )
    .catch((error: IdempotencyError) => {
      observe({ type: 'store-failed', operation: name, id: request.id, at: 'doubt', error });
      return { kind: 'applied' } as const;
    });
  return written.kind === 'refused'
    ? { kind: 'standing', record: written.record, asOf: now }
    : refuseInDoubt(request);
}
