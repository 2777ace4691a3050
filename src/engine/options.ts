import type { Duration } from '../domain/duration.ts';
import type { Store } from '../store/store.ts';
import type { Claim } from './claim.ts';
import type { Observer } from './observe.ts';
import type { FailureVerdict, ValueVerdict } from './verdict.ts';

/** A claim whose lease is over, as `reconcile` sees it. */
export interface LapsedClaim
  extends Pick<Claim, 'id' | 'operation' | 'fence' | 'attempt' | 'token' | 'uuid'> {
  /** Known to a retry, which brings it along; `undefined` in the sweeper, since the table holds only a digest. */
  readonly scope: string | undefined;
  /** As `scope`. What the sweeper needs to ask by, the handler captures, or derives with `token`. */
  readonly key: string | undefined;
  readonly claimedAt: Date;
  readonly leaseUntil: Date;
  /** What `claim.capture` kept under this name; `undefined` where it kept nothing. */
  readonly captured: (name: string) => unknown;
}

/** What the outside world says about a lapsed operation. */
export type Reconciled<Result> = { readonly found: Result } | 'absent' | 'unknown';

/**
 * Asks downstream whether the effect happened. It must not make it happen. What it throws counts as `'unknown'`; so does an
 * answer after 10 seconds.
 */
export type Reconcile<Result> = (claim: LapsedClaim) => Promise<Reconciled<Result>> | Reconciled<Result>;

/** How a retry treats a claim whose owner was never heard of again. */
export type OnLapse<Result> =
  | 'hold'
  | 'rerun'
  | Reconcile<Result>
  | { readonly reconcile: Reconcile<Result>; readonly settleAfter?: Duration | undefined };

/** Options of every adapter. */
export interface OperationOptions<Result> {
  readonly store: Store;
  /**
   * Stable name of what is done once, such as `place-order`: 1 to 64 letters, digits and `. _ - / :`. It is part of the
   * record's id: renaming it forgets what was done. Never the function's name, which minifiers and deploys change.
   */
  readonly operation: string;
  /**
   * How long an outcome replays, counted from its completion. After it the key is a stranger and runs again, so this is
   * your published retry deadline: longer than all retries, queues and human re-runs together. Default 24 hours, a
   * floor and not a recommendation. From 1 second to 5 years.
   */
  readonly retention?: Duration | undefined;
  /**
   * How long a claim is believed without news. Default: the time the invocation has left, or without a Lambda context
   * 15 minutes, Lambda's maximum; and 2 seconds, since Lambda kills some time after the deadline. Up to 24 hours.
   */
  readonly lease?: Duration | undefined;
  /** How far two hosts' clocks may differ: a claim lapses this much after its lease. Default 3 seconds, up to 1 minute. */
  readonly skew?: Duration | undefined;
  /**
   * How long a duplicate waits for the running winner's answer before it is refused as `busy`. Bounded by the time the
   * invocation has left. Default: not at all. Up to 15 minutes, and never longer than `lease`.
   */
  readonly wait?: Duration | undefined;
  /**
   * What a retry does about a claim whose lease is over:
   * - `'hold'` (default): refuse as `in-doubt` until somebody resolves it;
   * - `'rerun'`: run again, because the author knows that this is safe;
   * - `{ reconcile, settleAfter }` or just the function: ask downstream. Found completes and replays, unknown stays
   *   in doubt, absent runs again, but only when the lease ended longer ago than `settleAfter` (default 60 seconds: a
   *   dead process's last request may still be on its way, and few clients wait longer).
   */
  readonly onLapse?: OnLapse<Result> | undefined;
  /**
   * When the key is claimed:
   * - `'first'` (default): before the handler runs, so that at most one runs at a time;
   * - `'at-commit'`: not before the handler's `claim.commit`, whose one transaction puts the outcome if there is none yet. One round
   *   trip in all, nothing to sweep. Duplicates may run at once, and all but one write nothing and get the winner's answer. Only
   *   where the handler's effects are DynamoDB writes of that commit; it has to return with one.
   */
  readonly claim?: 'first' | 'at-commit' | undefined;
  /**
   * What a returned result does with the claim. Default: a result with a `statusCode` completes when it is 2xx, 3xx or
   * a deliberate 4xx, is released on 401, 403, 409, 423, 425, 429 and 5xx, and holds on 408; any other result
   * completes. With a `reconcile` of your own a 5xx holds. A 5xx is never stored, whatever this says.
   */
  readonly classify?: ((result: Result) => ValueVerdict) | undefined;
  /**
   * What a thrown error does with the claim. Default: an error with a deliberate 4xx status is recorded and thrown again
   * on replay; a time-out (`TimeoutError`, `AbortError`, 408) holds, since the effect may still happen; with a
   * `reconcile` of your own every other error holds as well; the rest releases.
   */
  readonly onFailure?: FailureVerdict | ((error: unknown) => FailureVerdict) | undefined;
  /** Told of every decision. */
  readonly observe?: Observer | undefined;
}
