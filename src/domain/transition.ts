import { isExpired, type OnceRecord, type State } from './record.ts';

/** Owner, fence and state as somebody saw them: what a later write is conditioned on. */
export interface Seen {
  readonly id: string;
  readonly owner: string;
  readonly fence: number;
  readonly state: State;
}

/** What a claim writes. */
export type ClaimedRecord = OnceRecord & { readonly state: 'claimed' };

/**
 * Every move a record can make, each of them one conditional write. There is no other way to change a record, and none
 * to delete one: a release is an update, so the fence and whatever later versions journal survive it.
 */
export type Transition =
  /** Put, if there is no record or only an expired one with a smaller fence. */
  | { readonly kind: 'claim'; readonly now: number; readonly record: ClaimedRecord }
  /** A released, lapsed, in-doubt or expired record becomes ours, if it is still exactly what was seen. */
  | { readonly kind: 'take-over'; readonly seen: Seen; readonly record: ClaimedRecord }
  /** The owner ends its claim with an outcome, also late, as long as nobody replaced it. */
  | ({ readonly kind: 'complete'; readonly outcome: string } & Ending)
  /** The owner ends its claim without an outcome. `forget` unbinds the key from the payload: nothing had run. */
  | ({ readonly kind: 'release'; readonly forget: boolean } & Ending)
  /** Somebody found a lapsed claim undecided. Owner and fence stay: a late owner may still complete. */
  | { readonly kind: 'doubt'; readonly seen: Seen; readonly expiresAt: number }
  /** Reconcile or a person decides a lapsed or in-doubt record. A new owner and fence shut the old one out. */
  | ({
      readonly kind: 'resolve';
      readonly seen: Seen;
      readonly owner: string;
      readonly fence: number;
      readonly to: 'completed' | 'released';
      readonly outcome?: string;
      readonly resolvedBy?: string;
      readonly resolvedWhy?: string;
    } & Omit<Ending, 'held'>);

interface Ending {
  readonly held: { readonly id: string; readonly owner: string; readonly fence: number };
  readonly endedAt: number;
  readonly expiresAt: number;
}

/** The record a transition is about. */
export function targetOf(transition: Transition): string {
  switch (transition.kind) {
    case 'claim':
    case 'take-over':
      return transition.record.id;
    case 'complete':
    case 'release':
      return transition.held.id;
    case 'doubt':
    case 'resolve':
      return transition.seen.id;
    default:
      return transition satisfies never;
  }
}

/** The condition of the write, as a predicate. The DynamoDB expressions say the same; one suite compares the two. */
export function permits(transition: Transition, record: OnceRecord | undefined): boolean {
  switch (transition.kind) {
    case 'claim':
      return (
        record === undefined || (isExpired(record, transition.now) && record.fence < transition.record.fence)
      );
    case 'take-over':
    case 'doubt':
    case 'resolve':
      return (
        record !== undefined && record.state === transition.seen.state && heldBy(record, transition.seen)
      );
    case 'complete':
      return (
        record !== undefined &&
        (record.state === 'claimed' || record.state === 'in-doubt') &&
        heldBy(record, transition.held)
      );
    case 'release':
      return record !== undefined && record.state === 'claimed' && heldBy(record, transition.held);
    default:
      return transition satisfies never;
  }
}

/** The record after a permitted transition. */
export function apply(transition: Transition, record: OnceRecord | undefined): OnceRecord {
  if (transition.kind === 'claim') return transition.record;
  if (record === undefined) throw new Error('only a claim creates a record');
  switch (transition.kind) {
    case 'take-over': {
      const { endedAt: _e, outcome: _o, resolvedBy: _b, resolvedWhy: _w, ...kept } = record;
      return { ...kept, ...transition.record };
    }
    case 'complete': {
      const { outcome, endedAt, expiresAt } = transition;
      return { ...record, state: 'completed', outcome, endedAt, expiresAt };
    }
    case 'release': {
      const { endedAt, expiresAt } = transition;
      const { fingerprint: _fingerprint, ...unbound } = record;
      return { ...(transition.forget ? unbound : record), state: 'released', endedAt, expiresAt };
    }
    case 'doubt':
      return { ...record, state: 'in-doubt', expiresAt: transition.expiresAt };
    case 'resolve': {
      const { kind: _kind, seen: _seen, to, ...written } = transition;
      return { ...record, ...written, state: to };
    }
    default:
      return transition satisfies never;
  }
}

/**
 * "Condition failed" has three readings: applied, already applied by me, lost to someone else. This tells the second
 * from the third: a reply that was lost and retried by the SDK meets our own write.
 */
export function appliedByMe(transition: Transition, record: OnceRecord | undefined): boolean {
  switch (transition.kind) {
    case 'claim':
    case 'take-over':
      return record?.state === 'claimed' && heldBy(record, transition.record);
    case 'complete':
      return (
        record?.state === 'completed' &&
        heldBy(record, transition.held) &&
        record.outcome === transition.outcome
      );
    case 'release':
      return record === undefined || (record.state === 'released' && heldBy(record, transition.held));
    case 'doubt':
      return record?.state === 'in-doubt' && heldBy(record, transition.seen);
    case 'resolve':
      return record?.state === transition.to && heldBy(record, transition);
    default:
      return transition satisfies never;
  }
}

function heldBy(record: OnceRecord, holder: { readonly owner: string; readonly fence: number }): boolean {
  return record.owner === holder.owner && record.fence === holder.fence;
}
