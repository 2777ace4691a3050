import { expirySeconds, nextFence, type OnceRecord } from '../domain/record.ts';
import type { ClaimedRecord, Transition } from '../domain/transition.ts';
import { newOwner } from './claim.ts';
import { callLimits, leaseUntil, type Request } from './request.ts';

/** What an attempt to write a claim found: it is ours, or this record stands in the way. */
export type Found =
  | { readonly kind: 'won'; readonly record: OnceRecord }
  | { readonly kind: 'standing'; readonly record: OnceRecord | undefined };

/** What a claim found before it won. */
export type From = 'absent' | 'released' | 'lapsed' | 'in-doubt';

/** The hot path: one conditional write, no read before it. */
export async function claimAbsent(request: Request): Promise<Found> {
  const now = request.operation.store.now();
  const record = claimedRecord(request, { fence: now, attempt: 1 });
  return writeClaim(request, { kind: 'claim', now, record }, 'absent');
}

/** A record that is free, or whose owner may be replaced, becomes ours, if it is still exactly what was seen. */
export async function takeOver(request: Request, seen: OnceRecord, from: From): Promise<Found> {
  const now = request.operation.store.now();
  const attempt = from === 'absent' ? 1 : seen.attempt + 1;
  const record = claimedRecord(request, { fence: nextFence(now, seen.fence), attempt });
  return writeClaim(request, { kind: 'take-over', seen, record }, from);
}

async function writeClaim(
  request: Request,
  transition: Transition & { readonly record: ClaimedRecord },
  from: From,
): Promise<Found> {
  const { operation, id } = request;
  const { record } = transition;
  try {
    const written = await operation.store.write(transition, callLimits(request));
    if (written.kind === 'refused') return { kind: 'standing', record: written.record };
    operation.observe({ type: 'claimed', operation: operation.name, id, from, attempt: record.attempt });
    return { kind: 'won', record };
  } catch (error) {
    await withdraw(request, record, transition.kind === 'claim');
    throw error;
  }
}

/**
 * The claim may have landed although the store gave no answer. Nothing ran and nothing will, so it is let go, once and
 * quickly: otherwise a blip of the store would leave an operation in doubt that never began.
 */
async function withdraw(
  { operation, id }: Request,
  { owner, fence, expiresAt }: OnceRecord,
  forget: boolean,
): Promise<void> {
  const held = { id, owner, fence };
  const release = { kind: 'release', held, forget, endedAt: operation.store.now(), expiresAt } as const;
  await operation.store.write(release, { budget: 300 }).catch(() => undefined);
}

function claimedRecord(
  request: Request,
  life: { readonly fence: number; readonly attempt: number },
): ClaimedRecord {
  const { operation, id, fingerprint } = request;
  const now = operation.store.now();
  const lease = leaseUntil(request, now);
  return {
    id,
    state: 'claimed',
    owner: newOwner(),
    ...life,
    ...(fingerprint !== undefined && { fingerprint }),
    claimedAt: now,
    leaseUntil: lease,
    // counted from when somebody could first ask: a crash is remembered as long as an outcome, however short that is
    expiresAt: expirySeconds(lease + operation.skew + operation.retention),
  };
}
