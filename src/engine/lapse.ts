import { decodeOutcome } from '../domain/outcome.ts';
import { expirySeconds, nextFence, type OnceRecord } from '../domain/record.ts';
import type { IdempotencyError } from '../errors.ts';
import { type Answered, refuseInDoubt, replayOutcome } from './answers.ts';
import { newOwner } from './claim.ts';
import { encodeFor, reportCompleted } from './encode.ts';
import type { LapseRule } from './operation.ts';
import type { LapsedClaim, Reconciled } from './options.ts';
import { callLimits, type Request } from './request.ts';
import { type Found, takeOver } from './write-claim.ts';

type ReconcileRule = Extract<LapseRule, { kind: 'reconcile' }>;

/** A claim whose owner was never heard of again. Nothing here runs again blindly: the operation says what to do. */
export async function answerLapsed(
  request: Request,
  record: OnceRecord,
  judgement: 'lapsed' | 'in-doubt',
): Promise<Answered | Found> {
  const rule = request.operation.onLapse;
  switch (rule.kind) {
    case 'hold':
      return leaveInDoubt(request, record);
    case 'rerun':
      return takeOver(request, record, judgement);
    case 'reconcile':
      return reconcile(request, record, judgement, rule);
    default:
      return rule satisfies never;
  }
}

async function reconcile(
  request: Request,
  record: OnceRecord,
  judgement: 'lapsed' | 'in-doubt',
  rule: ReconcileRule,
): Promise<Answered | Found> {
  const { operation, id } = request;
  const report = (verdict: 'found' | 'absent' | 'settling' | 'unknown' | 'failed'): void =>
    operation.observe({ type: 'reconciled', operation: operation.name, id, verdict });
  const reconciled = await ask(rule, lapsedClaim(request, record));
  if (typeof reconciled === 'object') {
    report('found');
    return completeFound(request, record, reconciled.found);
  }
  if (reconciled === 'absent' && isSettled(request, record, rule)) {
    report('absent');
    return takeOver(request, record, judgement);
  }
  report(reconciled === 'absent' ? 'settling' : reconciled);
  return leaveInDoubt(request, record);
}

/** What downstream says. Anything that is not one of the three answers is no answer. */
async function ask(
  { reconcile }: ReconcileRule,
  claim: LapsedClaim,
): Promise<Reconciled<unknown> | 'failed'> {
  try {
    const reconciled: unknown = await reconcile(claim);
    if (reconciled === 'absent' || reconciled === 'unknown') return reconciled;
    const isFound = typeof reconciled === 'object' && reconciled !== null && 'found' in reconciled;
    return isFound ? (reconciled as { found: unknown }) : 'failed';
  } catch {
    return 'failed';
  }
}

/** A dead process's last request may still be on its way: absent counts only when its lease ended long enough ago. */
function isSettled({ operation }: Request, record: OnceRecord, { settleAfter }: ReconcileRule): boolean {
  return record.leaseUntil + operation.skew + settleAfter < operation.store.now();
}

async function completeFound(request: Request, seen: OnceRecord, found: unknown): Promise<Answered | Found> {
  const { operation } = request;
  const { store, retention } = operation;
  const encoded = encodeFor(operation, { kind: 'value', value: found });
  if (encoded.kind === 'server-error') return leaveInDoubt(request, seen);
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
    },
    callLimits(request),
  );
  if (written.kind === 'refused') return { kind: 'standing', record: written.record };
  reportCompleted(operation, request.id, encoded);
  // everybody gets the stored form; where it cannot be stored, at least whoever asked gets what was found
  return replayOutcome(
    request,
    encoded.kind === 'kept' ? decodeOutcome(encoded.text) : { kind: 'value', value: found },
  );
}

/**
 * Says so in the record, which from then on outlives its retention: its next retry must not be taken for a stranger. An
 * answer that fails to be written down is still the answer.
 */
async function leaveInDoubt(request: Request, record: OnceRecord): Promise<Answered | Found> {
  const { name, store, retention, observe } = request.operation;
  const now = store.now();
  const longEnough = record.expiresAt >= expirySeconds(now + retention / 2);
  if (record.state === 'in-doubt' && longEnough) return refuseInDoubt(request);
  const expiresAt = Math.max(record.expiresAt, expirySeconds(now + retention));
  const written = await store
    .write({ kind: 'doubt', seen: record, expiresAt }, callLimits(request))
    .catch((error: IdempotencyError) => {
      observe({ type: 'store-failed', operation: name, id: request.id, at: 'doubt', error });
      return { kind: 'applied' } as const;
    });
  return written.kind === 'refused' ? { kind: 'standing', record: written.record } : refuseInDoubt(request);
}

function lapsedClaim({ operation, identity, id }: Request, record: OnceRecord): LapsedClaim {
  return {
    id,
    operation: operation.name,
    scope: identity.scope,
    key: identity.key,
    fence: record.fence,
    attempt: record.attempt,
    claimedAt: new Date(record.claimedAt),
    leaseUntil: new Date(record.leaseUntil),
  };
}
