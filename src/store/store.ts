import type { Unique } from '../domain/companion.ts';
import type { OnceRecord } from '../domain/record.ts';
import type { Transition } from '../domain/transition.ts';
import type { Commit, Committed } from './commit.ts';
import type { Lookup, LookupQuery, Resolution } from './inspect.ts';

/** How a conditional write ended. `record` is what stands there now, as far as the engine told. */
export type Written =
  | { readonly kind: 'applied' }
  /** Refused because the very same write had landed before: a lost reply, retried. */
  | { readonly kind: 'applied-before' }
  | { readonly kind: 'refused'; readonly record: OnceRecord | undefined };

/** Time limits of one store call, in milliseconds. */
export interface CallLimits {
  /** The call gives up after this long and counts as failed. */
  readonly budget: number;
}

/**
 * What a store must do: one conditional write, one strongly consistent read, and tell the time. Both may fail only
 * with an `IdempotencyError` of code `store` (or `options`, when there is no table to write to); after a failed write it is not known whether it landed.
 */
export interface StoreDriver {
  /** Epoch milliseconds. Every decision of the engine uses this clock. */
  now(): number;
  write(transition: Transition, limits: CallLimits): Promise<Written>;
  /** One transaction: all of it or nothing. After a failure it is not known whether it landed. */
  commit(commit: Commit, limits: CallLimits): Promise<Committed>;
  /** The item of a business reference, read strongly. */
  unique(id: string, limits: CallLimits): Promise<Unique | undefined>;
  read(id: string, limits: CallLimits): Promise<OnceRecord | undefined>;
  /**
   * What a sweep should look at: ids of records that are due at `before` (epoch milliseconds), page by page, also pages
   * without any. It may be behind the table, so each record is read again before anything is decided.
   */
  due(before: number, limits: CallLimits): AsyncIterable<DuePage>;
  /** How large the table is, where that is known. It may be hours old; nothing is decided by it. */
  size?(limits: CallLimits): Promise<TableSize>;
}

/** What the engine says about the whole table. */
export interface TableSize {
  readonly items: number;
  readonly bytes: number;
}

/** One page of what is due. `scan`: the table has no sweep index, so every item was read. */
export interface DuePage {
  readonly ids: readonly string[];
  readonly from: 'index' | 'scan';
}

/** A store as users hold it. One store serves any number of operations; it keeps nothing about them. */
export interface Store extends StoreDriver {
  /**
   * What happened to this operation, read strongly. `undefined`: never heard of, or past its retention. The answer
   * itself is returned only when asked for with `withOutcome`.
   *
   * @throws IdempotencyError `store`, `options`
   */
  lookup(query: LookupQuery): Promise<Lookup | undefined>;
  /**
   * Settles a lapsed or in-doubt operation by hand, conditioned on exactly what was seen. The late owner is shut out.
   *
   * @throws IdempotencyError `busy` while its claim is live, `already-applied` when there is nothing to settle,
   * `lease-lost` when it is gone or changed meanwhile, `store`, `options`
   */
  resolve(resolution: Resolution): Promise<Lookup>;
}
