import { AsyncLocalStorage } from 'node:async_hooks';

/** The ids that the current call chain holds. Context, not module state: every call chain has its own. */
const holding = new AsyncLocalStorage<ReadonlySet<string>>();

/** Whether this call chain already holds the record: waiting for it would be waiting for oneself. */
export function isReentrant(id: string): boolean {
  return holding.getStore()?.has(id) ?? false;
}

/** Runs work in a call chain that holds the record. */
export function whileHolding<Result>(id: string, work: () => Result): Result {
  return holding.run(new Set([...(holding.getStore() ?? []), id]), work);
}
