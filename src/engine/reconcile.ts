import { deriveKey, deriveUuid } from '../domain/derive.ts';
import type { Identity } from '../domain/identity.ts';
import { type OnceRecord, textOf } from '../domain/record.ts';
import { ask } from './ask.ts';
import { capturedValue } from './capture.ts';
import type { Terms } from './examine.ts';
import type { LapseRule } from './operation.ts';
import type { LapsedClaim } from './options.ts';

/** What an operation's own `reconcile` said about a lapsed claim. */
export type OperationVerdict =
  | { readonly kind: 'found'; readonly value: unknown }
  | { readonly kind: 'absent' }
  /** Absent, but what was sent last may still arrive: it counts from `from` on, in epoch milliseconds. */
  | { readonly kind: 'settling'; readonly from: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly error: string };

/**
 * Asks about a whole operation: whoever retries, and the sweeper, by this one function. Absent counts only when the lease
 * ended longer ago than `settleAfter`, by the clock before the question: what arrives while it is being answered has not
 * been seen by it.
 */
export async function askOperation(
  { reconcile, settleAfter }: Extract<LapseRule, { kind: 'reconcile' }>,
  claim: LapsedClaim,
  { leaseUntil }: OnceRecord,
  { now, skew, within }: Terms,
): Promise<OperationVerdict> {
  const settledFrom = leaseUntil + skew + settleAfter;
  const isSettled = settledFrom < now();
  const asked = await ask(() => reconcile(claim), within());
  if (asked === 'absent') return isSettled ? { kind: 'absent' } : { kind: 'settling', from: settledFrom + 1 };
  if (asked === 'unknown') return { kind: 'unknown' };
  if ('failed' in asked) return { kind: 'failed', error: asked.failed };
  return { kind: 'found', value: asked.found };
}

/** A record as `reconcile` sees it. Scope and key are known to whoever retries, not to the sweeper. */
export function lapsedClaim(
  { id, fence, attempt, claimedAt, leaseUntil, values }: OnceRecord,
  operation: string,
  identity?: Identity,
): LapsedClaim {
  return {
    id,
    operation,
    scope: identity?.scope,
    key: identity?.key,
    fence,
    attempt,
    claimedAt: new Date(claimedAt),
    leaseUntil: new Date(leaseUntil),
    token: (name, index) => deriveKey(id, name, index),
    uuid: (name, index) => deriveUuid(id, name, index),
    captured: (name) => capturedValue(textOf(values, name)),
  };
}
