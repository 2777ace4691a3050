import { setTimeout as sleep } from 'node:timers/promises';
import type { Transition } from '../domain/transition.ts';
import { IdempotencyError, isIdempotencyError } from '../errors.ts';
import type { Written } from '../store/store.ts';
import { callLimits, type Request, timeLeft } from './request.ts';

/** How long a write is tried, with pauses, before it is given up. */
const longestEffort = 5000;
const pauses = [50, 150, 400, 800];

/** Writes what is known and only has to be written down: retried within the time that is left. It never throws. */
export async function persist(
  request: Request,
  at: 'complete' | 'release' | 'doubt' | 'journal',
  transition: Transition,
): Promise<Written | 'failed'> {
  const { operation, id } = request;
  const { store, name, observe } = operation;
  const started = performance.now();
  for (const pause of [...pauses, undefined]) {
    try {
      return await store.write(transition, callLimits(request));
    } catch (error) {
      const spent = performance.now() - started;
      const goOn = pause !== undefined && spent + pause < Math.min(longestEffort, timeLeft(request));
      if (!goOn) {
        observe({ type: 'store-failed', operation: name, id, at, error: asStoreError(error) });
        return 'failed';
      }
      await sleep(pause);
    }
  }
  return 'failed';
}

function asStoreError(error: unknown): IdempotencyError {
  return isIdempotencyError(error)
    ? error
    : new IdempotencyError('store', 'The idempotency store failed.', { cause: error });
}
