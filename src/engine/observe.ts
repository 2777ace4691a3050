import type { NotKept } from '../domain/outcome.ts';
import type { ErrorCode, IdempotencyError } from '../errors.ts';
import { contain } from './contain.ts';

/** What every event carries. Safe to log: the id holds a digest, never the key or the scope. */
interface Subject {
  readonly operation: string;
  readonly id: string;
}

/**
 * Every decision, as a closed union. Metrics and logs hang on it. `client` tells whose keys these are by a digest of the scope, so that
 * replays can be counted by client.
 */
export type OnceEvent =
  /** A handler is about to run. `from` is what the claim found: nothing, or a record it took over. */
  | (Subject & {
      readonly type: 'claimed';
      readonly from: 'absent' | 'released' | 'lapsed' | 'in-doubt';
      readonly attempt: number;
      readonly client?: string;
    })
  | (Subject & { readonly type: 'completed'; readonly outcome: 'value' | 'rejection' })
  /** Completed, but the answer cannot be stored; duplicates get `outcome-not-kept`. */
  | (Subject & { readonly type: 'not-kept'; readonly reason: NotKept; readonly detail: string })
  /** Free to run again. */
  | (Subject & { readonly type: 'released'; readonly reason: string })
  /** Left to the lease: the effect may still be happening. */
  | (Subject & { readonly type: 'held'; readonly reason: string })
  /** A duplicate got the first answer. */
  | (Subject & {
      readonly type: 'replayed';
      readonly outcome: 'value' | 'rejection';
      readonly client?: string;
    })
  /** A duplicate waited for the winner, and how long. */
  | (Subject & { readonly type: 'waited'; readonly milliseconds: number })
  /** Answered without running: busy, mismatch, in doubt, store down, malformed key. */
  | { readonly type: 'refused'; readonly operation: string; readonly id?: string; readonly code: ErrorCode }
  /** Ran unprotected, and why that was allowed. */
  | {
      readonly type: 'bypassed';
      readonly operation: string;
      readonly reason: 'disabled' | 'method' | 'no-key';
    }
  /** The owner was replaced before it could end its claim. */
  | (Subject & { readonly type: 'lease-lost'; readonly at: 'complete' | 'release' | 'journal' })
  /** An effect has happened: it ran, an earlier attempt's result stood in the journal, or the provider had it. */
  | (Subject & {
      readonly type: 'performed';
      readonly effect: string;
      readonly how: 'run' | 'stored' | 'found';
    })
  /**
   * Downstream was asked about a lapsed claim, or about one effect of it. `settling`: absent, but too early to count.
   */
  | (Subject & {
      readonly type: 'reconciled';
      readonly verdict: 'found' | 'absent' | 'settling' | 'unknown' | 'failed';
      readonly effect?: string;
      /** The name of what a failed question threw. */
      readonly error?: string;
    })
  /** The store failed: why is in the error's message, for the operator. After the handler ran it changes no answer. */
  | (Subject & {
      readonly type: 'store-failed';
      readonly at: 'claim' | 'complete' | 'release' | 'doubt' | 'journal' | 'commit';
      readonly error: IdempotencyError;
    });

/** Receives every event, synchronously. What it throws is swallowed: watching must not change what happens. */
export type Observer = (event: OnceEvent) => void;

/** The user's observer, made harmless. */
export function harmless(observe: Observer | undefined): Observer {
  return observe === undefined ? () => {} : (event) => contain('observe', () => observe(event));
}
