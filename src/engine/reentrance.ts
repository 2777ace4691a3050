import { AsyncLocalStorage } from 'node:async_hooks';

/** One claim on the way through a call chain. What a handler leaves behind (a timer, a pool) outlives it. */
interface Holding {
  readonly id: string;
  readonly outer: Holding | undefined;
  over: boolean;
}

/** Context, not module state: every call chain has its own. */
const chain = new AsyncLocalStorage<Holding>();

/** Whether this call chain still holds the record: waiting for it would be waiting for oneself. */
export function isReentrant(id: string): boolean {
  for (let holding = chain.getStore(); holding !== undefined; holding = holding.outer) {
    if (holding.id === id && !holding.over) return true;
  }
  return false;
}

/** Runs work in a call chain that holds the record until the work has ended. */
export async function whileHolding<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
  const holding: Holding = { id, outer: chain.getStore(), over: false };
  try {
    return await chain.run(holding, work);
  } finally {
    holding.over = true;
  }
}
