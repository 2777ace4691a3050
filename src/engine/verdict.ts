import { statusOfValue } from '../domain/outcome.ts';
import { isIdempotencyError } from '../errors.ts';
import { contain } from './contain.ts';
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

/** What the end of a run does with its claim. */
export type Verdict = ValueVerdict | FailureVerdict;

/**
 * Decides, once per run: the user's own `classify` and `onFailure` may count their calls. A result or an error whose
 * getters throw says nothing about what happened, so it holds.
 */
export function verdictOf(operation: Operation, ended: Ended): Verdict {
  try {
    return ended.kind === 'returned'
      ? verdictOfValue(operation, ended.value)
      : verdictOfError(operation, ended.error);
  } catch {
    return 'hold';
  }
}

function verdictOfValue({ classify, onLapse }: Operation, value: unknown): ValueVerdict {
  if (classify !== undefined)
    return ownVerdict('classify', ['complete', 'release', 'hold'], () => classify(value));
  const status = statusOfValue(value);
  if (status === undefined || isDeliberate(status) || (status >= 200 && status < 400)) return 'complete';
  if (status === 408) return 'hold';
  // an effect outside the journal may hide behind a 5xx that the handler made of an error
  return onLapse.kind === 'reconcile' && !transient.has(status) ? 'hold' : 'release';
}

function verdictOfError({ onFailure, onLapse }: Operation, error: unknown): FailureVerdict {
  if (onFailure !== undefined)
    return ownVerdict('onFailure', ['record', 'release', 'hold'], () => onFailure(error));
  if (isFinalAnswer(error)) return 'record';
  // a timeout is no failure but an absence of information; that of our store is told by what it stood before
  if (!isIdempotencyError(error) && (statusOfError(error) === 408 || isTimeout(error))) return 'hold';
  return onLapse.kind === 'reconcile' ? 'hold' : 'release';
}

/**
 * A thrown error that is an answer, not a state of the moment. What another operation of ours refuses inside a handler is
 * none.
 */
export function isFinalAnswer(error: unknown): boolean {
  const status = isIdempotencyError(error) ? undefined : statusOfError(error);
  return status !== undefined && isDeliberate(status);
}

/** A verdict function that fails comes after the effect, so it must not make the effect happen again. */
function ownVerdict<Verdict extends string>(
  option: string,
  words: readonly Verdict[],
  decide: () => Verdict,
): Verdict | 'hold' {
  const verdict = contain(option, decide);
  if (verdict !== undefined && words.includes(verdict)) return verdict;
  process.emitWarning(`lambda-once: "${option}" gave none of ${words.join(', ')}; the claim is held.`);
  return 'hold';
}

/** A 4xx that is an answer, not a state of the moment. */
function isDeliberate(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && !transient.has(status);
}

/** How running out of time is spelled by Middy, fetch, the AWS SDK, Node's sockets, axios and undici. */
const timeoutNames = /(?:TimeoutError|^AbortError)$/;
const timeoutCodes = /^(?:ETIMEDOUT|ESOCKETTIMEDOUT|ECONNABORTED|ABORT_ERR|UND_ERR_\w+_TIMEOUT)$/;

/** Errors are wrapped, seldom deeper than this. */
const deepestCause = 5;

/** Whether the error, or what caused it, says that time ran out: that leaves open what happened. */
function isTimeout(error: unknown): boolean {
  let link = error;
  for (let depth = 0; depth < deepestCause && typeof link === 'object' && link !== null; depth += 1) {
    const { name, code, cause } = link as { name?: unknown; code?: unknown; cause?: unknown };
    if (typeof name === 'string' && timeoutNames.test(name)) return true;
    if (typeof code === 'string' && timeoutCodes.test(code)) return true;
    link = cause;
  }
  return false;
}
