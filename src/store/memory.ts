import type { Outgoing, Unique } from '../domain/companion.ts';
import type { OnceRecord } from '../domain/record.ts';
import { appliedByMe, apply, permits, type Transition, targetOf } from '../domain/transition.ts';
import type { Commit, Committed, WriteAction } from './commit.ts';
import { withInspection } from './inspect.ts';
import type { Store } from './store.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Epoch milliseconds. Default `Date.now`; a test passes its own to cross a lease or a retention. */
  readonly now?: (() => number) | undefined;
  /** The records by id. Pass one map to several stores to let them share a table, or to look into it. */
  readonly records?: Map<string, OnceRecord> | undefined;
  /** The permanent items of `unique`, by id. */
  readonly uniques?: Map<string, Unique> | undefined;
  /** What was put into the outbox. */
  readonly outbox?: Outgoing[] | undefined;
  /**
   * Receives the caller's own writes of each commit. They are applied nowhere: there is no table. What it throws fails the
   * commit as the store would, and nothing of it happens.
   */
  readonly onWrites?: ((writes: readonly WriteAction[]) => void) | undefined;
}

/**
 * A store in this process's memory, for tests. It makes the same moves on the same conditions as the table, decided by
 * the same functions. Not for production: nothing survives the process, no other process sees it.
 */
export function memoryStore({
  now = Date.now,
  records = new Map(),
  uniques = new Map(),
  outbox = [],
  onWrites = () => {},
}: MemoryStoreOptions = {}): Store {
  return withInspection({
    now,
    async write(transition: Transition) {
      const id = targetOf(transition);
      const record = records.get(id);
      if (permits(transition, record)) {
        records.set(id, apply(transition, record));
        return { kind: 'applied' };
      }
      return appliedByMe(transition, record) ? { kind: 'applied-before' } : { kind: 'refused', record };
    },
    async commit({ transition, uniques: wanted, outgoing, writes }: Commit): Promise<Committed> {
      const record = transition === undefined ? undefined : records.get(targetOf(transition));
      if (transition !== undefined && !permits(transition, record)) {
        return appliedByMe(transition, record) ? { kind: 'applied-before' } : { kind: 'refused', record };
      }
      const taken = wanted.map((unique) => uniques.get(unique.id)).find((unique) => unique !== undefined);
      if (taken !== undefined) return { kind: 'taken', by: taken };
      onWrites(writes);
      if (transition !== undefined) records.set(targetOf(transition), apply(transition, record));
      for (const unique of wanted) uniques.set(unique.id, unique);
      outbox.push(...outgoing);
      return { kind: 'applied' };
    },
    async unique(id: string) {
      return uniques.get(id);
    },
    async read(id: string) {
      return records.get(id);
    },
    async *due(before: number) {
      const due = [...records.values()].filter(({ dueAt }) => dueAt !== undefined && dueAt <= before);
      yield { ids: due.map(({ id }) => id), from: 'index' } as const;
    },
  });
}
