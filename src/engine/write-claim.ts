import { openEntries } from '../domain/journal.ts';
import { expirySeconds, nextFence, type OnceRecord, type Texts } from '../domain/record.ts';
import type { ClaimedRecord, Transition } from '../domain/transition.ts';
import { newOwner } from './claim.ts';
import { callLimits, clientIn, leaseUntil, type Request } from './request.ts';

/** What an attempt to write a claim found: it is ours, or this record stands in the way. */
export type Found = { readonly kind: 'won'; readonly record: OnceRecord } | Standing;

/**
 * The record that stood in the way. `asOf`: the clock before the store was asked, since a record is judged by when it was
 * looked at: what its owner has written since, while its lease still ran, is not in it.
 */
export interface Standing {
  readonly kind: 'standing';
  readonly record: OnceRecord | undefined;
  readonly asOf: number;
}

/** What a claim found before it won. */
export type From = 'absent' | 'released' | 'lapsed' | 'in-doubt';

/**
 * The hot path: one conditional write, no read before it. A record that has expired is replaced as a whole, journal and
 * all; its fence is told where it is known to be greater than the clock.
 */
export async function claimAbsent(request: Request, expired?: OnceRecord): Promise<Found> {
  const now = request.operation.store.now();
  const fence = nextFence(now, expired?.fence ?? 0);
  const record = claimedRecord(request, { fence, attempt: 1 });
  return writeClaim(request, { kind: 'claim', now, record }, 'absent');
}

/**
 * A record that is free, or whose owner may be replaced, becomes ours, if it is still exactly what was seen. Its journal and
 * what it captured stay.
 *
 * @param found entries of effects that turned out to have happened
 */
export async function takeOver(
  request: Request,
  seen: OnceRecord,
  from: Exclude<From, 'absent'>,
  found: Texts,
): Promise<Found> {
  const now = request.operation.store.now();
  const life = { fence: nextFence(now, seen.fence), attempt: seen.attempt + 1 };
  const record = claimedRecord(request, life);
  const won = await writeClaim(request, { kind: 'take-over', seen, record, effects: found }, from);
  if (won.kind === 'standing') return won;
  const { effects, values } = seen;
  return {
    kind: 'won',
    record: {
      ...won.record,
      ...(effects !== undefined && { effects: { ...effects, ...found } }),
      ...(values !== undefined && { values }),
    },
  };
}

async function writeClaim(
  request: Request,
  transition: Transition & { readonly record: ClaimedRecord },
  from: From,
): Promise<Found> {
  const { operation, id } = request;
  const { record } = transition;
  const asOf = operation.store.now();
  try {
    const written = await operation.store.write(transition, callLimits(request));
    if (written.kind === 'refused') return { kind: 'standing', record: written.record, asOf };
    const { attempt } = record;
    operation.observe({
      type: 'claimed',
      operation: operation.name,
      id,
      from,
      attempt,
      ...clientIn(request),
    });
    return { kind: 'won', record };
  } catch (error) {
    await withdraw(request, transition);
    throw error;
  }
}

/**
 * The claim may have landed although the store gave no answer. Nothing ran and nothing will, so it is let go, once and
 * quickly: otherwise a blip of the store would leave an operation in doubt that never began.
 */
async function withdraw(
  { operation, id }: Request,
  transition: Transition & { readonly record: ClaimedRecord },
): Promise<void> {
  const { owner, fence, expiresAt, dueAt } = transition.record;
  const seen = transition.kind === 'take-over' ? transition.seen : undefined;
  const hasOpen = Object.keys(openEntries(seen?.effects)).length > 0;
  const release = {
    kind: 'release',
    held: { id, owner, fence },
    forget: transition.kind === 'claim',
    endedAt: operation.store.now(),
    expiresAt,
    // what an earlier attempt left open is still to be asked about
    dueAt: hasOpen ? (seen?.dueAt ?? dueAt) : undefined,
  } as const;
  await operation.store.write(release, { budget: 300 }).catch(() => undefined);
}

function claimedRecord(
  request: Request,
  life: { readonly fence: number; readonly attempt: number },
): ClaimedRecord {
  const { operation, id, fingerprint } = request;
  const now = operation.store.now();
  const lease = leaseUntil(request, now);
  const { onLapse, retention, skew } = operation;
  return {
    id,
    state: 'claimed',
    owner: newOwner(),
    ...life,
    ...(fingerprint !== undefined && { fingerprint }),
    claimedAt: now,
    leaseUntil: lease,
    // counted from when somebody could first ask: a crash is remembered as long as an outcome, however short that is
    expiresAt: expirySeconds(lease + skew + retention),
    dueAt: lease + skew,
    retention,
    skew,
    ...(onLapse.kind !== 'hold' && { onLapse: onLapse.kind }),
  };
}
