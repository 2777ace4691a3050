import type { OnceRecord } from '../../../src/domain/record.ts';
import { IdempotencyError, type OnceEvent, type Store } from '../../../src/index.ts';
import { memoryStore } from '../../../src/testing.ts';

/** A table in memory, a clock that runs and can be moved, and what was asked of the store. */
export interface World {
  readonly store: Store;
  /** Kinds of the store's calls, in order. */
  readonly calls: string[];
  readonly events: OnceEvent[];
  /** To be given as the option `observe`. */
  readonly observe: (event: OnceEvent) => void;
  /** Types of the events, in order. */
  readonly told: () => string[];
  readonly skip: (milliseconds: number) => void;
  /** Every row as text: two equal texts are equal bytes. */
  readonly rows: () => string;
  readonly records: () => OnceRecord[];
  /** Lets store writes of these kinds fail from now on. */
  readonly breakWrites: (...kinds: string[]) => void;
}

/** A world of a test's own. */
export function world(): World {
  const records = new Map<string, OnceRecord>();
  const calls: string[] = [];
  const events: OnceEvent[] = [];
  let ahead = 0;
  let broken: readonly string[] = [];
  const memory = memoryStore({ records, now: () => Date.now() + ahead });
  const store: Store = {
    ...memory,
    async write(transition, limits) {
      calls.push(transition.kind);
      if (broken.includes(transition.kind)) {
        throw new IdempotencyError('store', 'The table is throttled.', { retryAfter: 2 });
      }
      return memory.write(transition, limits);
    },
    async read(id, limits) {
      calls.push('read');
      return memory.read(id, limits);
    },
  };
  return {
    store,
    calls,
    events,
    observe: (event) => void events.push(event),
    told: () => events.map(({ type }) => type),
    skip: (milliseconds) => {
      ahead += milliseconds;
    },
    rows: () => JSON.stringify([...records]),
    records: () => [...records.values()],
    breakWrites: (...kinds) => {
      broken = kinds;
    },
  };
}

/** A promise that a test settles, so that nothing depends on how long something takes. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}
