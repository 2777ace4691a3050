import { statusOfValue } from '../domain/outcome.ts';
import type { Operation } from './operation.ts';
import { statusOfError } from './rejection.ts';

/** What becomes of a claim: end it with an outcome, end it without one, or leave it to the lease. */
export type ValueVerdict = 'complete' | 'release' | 'hold';

/** The same for a thrown error: record it as a rejection, end without an outcome, or leave it to the lease. */
export type FailureVerdict = 'record' | 'release' | 'hold';

/** How a handler ended. */
export type Ended =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'thrown'; readonly error: unknown };

/**
 * Not decisions but states of the moment: who is asking, what is locked, how fast. Asked again they may change, so they
 * are no outcome. (Seeds: only what would be identical if re-evaluated may complete a key.)
 */
const transient: ReadonlySet<number> = new Set([401, 403, 409, 423, 425, 429]);

/** Names that errors of running out of time carry, in Middy, in fetch and in the AWS SDK. */
const timeouts: ReadonlySet<string> = new Set(['TimeoutError', 'AbortError']);

/** What a returned value does with its claim. */
export function verdictOfValue({ classify, onLapse }: Operation, value: unknown): ValueVerdict {
  if (classify !== undefined)
    return ownVerdict('classify', ['complete', 'release', 'hold'], () => classify(value));
  const status = statusOfValue(value);
  if (status === undefined || isDeliberate(status) || (status >= 200 && status < 400)) return 'complete';
  if (status === 408) return 'hold';
  // an effect outside the journal may hide behind a 5xx that the handler made of an error
  return onLapse.kind === 'reconcile' && !transient.has(status) ? 'hold' : 'release';
}

/** What a thrown error does with its claim. */
export function verdictOfError({ onFailure, onLapse }: Operation, error: unknown): FailureVerdict {
  if (onFailure !== undefined)
    return ownVerdict('onFailure', ['record', 'release', 'hold'], () => onFailure(error));
  const status = statusOfError(error);
  if (status !== undefined && isDeliberate(status)) return 'record';
  // a timeout is no failure but an absence of information
  if (status === 408 || isTimeout(error)) return 'hold';
  return onLapse.kind === 'reconcile' ? 'hold' : 'release';
}

/** A verdict function that fails comes after the effect, so it must not make the effect happen again. */
function ownVerdict<Verdict extends string>(
  option: string,
  words: readonly Verdict[],
  decide: () => Verdict,
): Verdict | 'hold' {
  let verdict: Verdict | undefined;
  try {
    verdict = decide();
  } catch {
    // as if it had said nothing
  }
  if (verdict !== undefined && words.includes(verdict)) return verdict;
  process.emitWarning(`lambda-once: "${option}" gave none of ${words.join(', ')}; the claim is held.`);
  return 'hold';
}

/** A 4xx that is an answer, not a state of the moment. */
function isDeliberate(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && !transient.has(status);
}

/** Whether the error says that time ran out, which leaves open what happened. */
function isTimeout(error: unknown): boolean {
  return timeouts.has((error as { name?: string } | null)?.name ?? '');
}
