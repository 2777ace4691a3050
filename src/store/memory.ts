import type { OnceRecord } from '../domain/record.ts';
import { appliedByMe, apply, permits, type Transition, targetOf } from '../domain/transition.ts';
import { withInspection } from './inspect.ts';
import type { Store } from './store.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Epoch milliseconds. Default `Date.now`; a test passes its own to cross a lease or a retention. */
  readonly now?: (() => number) | undefined;
  /** The records by id. Pass one map to several stores to let them share a table, or to look into it. */
  readonly records?: Map<string, OnceRecord> | undefined;
}

/**
 * A store in this process's memory, for tests. It makes the same moves on the same conditions as the table, decided by
 * the same functions. Not for production: nothing survives the process, no other process sees it.
 */
export function memoryStore({ now = Date.now, records = new Map() }: MemoryStoreOptions = {}): Store {
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
    async read(id: string) {
      return records.get(id);
    },
    async *due(before: number) {
      const due = [...records.values()].filter(({ dueAt }) => dueAt !== undefined && dueAt <= before);
      yield { ids: due.map(({ id }) => id), from: 'index' } as const;
    },
  });
}
