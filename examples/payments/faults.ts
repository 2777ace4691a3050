import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What a drill can make a request suffer. Times are milliseconds, at most 60,000.
 * - `apply-after=<ms>`: the provider acts this late, whether the caller still listens or not. A caller that gives up, or
 *   dies, is charged afterwards, and a query before that finds nothing.
 * - `answer-after=<ms>`: the provider acts at once and answers this late.
 * - `drop-before`: the connection breaks, and nothing was charged.
 * - `drop-after`: the connection breaks, and the charge was made.
 * - `unavailable`: 503, and nothing was charged. To a query it says: cannot tell.
 */
export type Fault =
  | `apply-after=${number}`
  | `answer-after=${number}`
  | 'drop-before'
  | 'drop-after'
  | 'unavailable';

/** How a request goes. */
export interface Course {
  readonly ends: 'answered' | 'unavailable' | 'drop-before' | 'drop-after';
  readonly applyAfter: number;
  readonly answerAfter: number;
}

/** How a request ended. */
export type Ending<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'unavailable' | 'dropped' };

/** A request that suffers nothing. */
export const smooth: Course = { ends: 'answered', applyAfter: 0, answerAfter: 0 };

/** Longer than any sensible time-out of a caller, and a bound for what waits in memory. */
const longestDelay = 60_000;

/** The course that a fault means; `undefined` when the text is no fault. */
export function courseOf(fault: string): Course | undefined {
  if (fault === 'drop-before' || fault === 'drop-after' || fault === 'unavailable')
    return { ...smooth, ends: fault };
  const [, name, digits] = /^(apply|answer)-after=(\d{1,5})$/.exec(fault) ?? [];
  const milliseconds = Number(digits);
  if (name === undefined || milliseconds > longestDelay) return undefined;
  return { ...smooth, [name === 'apply' ? 'applyAfter' : 'answerAfter']: milliseconds };
}

/** Acts as the course says, without a look at the caller, who may be gone. Rejects when stopped during a delay. */
export async function follow<Answer>(
  { ends, applyAfter, answerAfter }: Course,
  act: () => Answer,
  stopped: AbortSignal,
): Promise<Ending<Answer>> {
  if (ends === 'unavailable') return { kind: 'unavailable' };
  if (ends === 'drop-before') return { kind: 'dropped' };
  await pause(applyAfter, stopped);
  const answer = act();
  await pause(answerAfter, stopped);
  return ends === 'drop-after' ? { kind: 'dropped' } : { kind: 'answered', answer };
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds > 0) await sleep(milliseconds, undefined, { signal });
}
