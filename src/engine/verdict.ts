import { type Rejection, statusOfValue } from '../domain/outcome.ts';
import type { Operation } from './operation.ts';

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
  if (classify !== undefined) return ownVerdict(() => classify(value));
  const status = statusOfValue(value);
  if (status === undefined || isDeliberate(status) || (status >= 200 && status < 400)) return 'complete';
  if (status === 408) return 'hold';
  // an effect outside the journal may hide behind a 5xx that the handler made of an error
  return onLapse.kind === 'reconcile' && !transient.has(status) ? 'hold' : 'release';
}

/** What a thrown error does with its claim. */
export function verdictOfError({ onFailure, onLapse }: Operation, error: unknown): FailureVerdict {
  if (onFailure !== undefined) return ownVerdict(() => onFailure(error));
  const status = statusOfError(error);
  if (status !== undefined && isDeliberate(status)) return 'record';
  // a timeout is no failure but an absence of information
  if (status === 408 || isTimeout(error)) return 'hold';
  return onLapse.kind === 'reconcile' ? 'hold' : 'release';
}

/** A verdict function that fails comes after the effect, so it must not make the effect happen again. */
function ownVerdict<Verdict>(decide: () => Verdict): Verdict | 'hold' {
  try {
    return decide();
  } catch (error) {
    process.emitWarning(
      `lambda-once: classify or onFailure threw ${(error as Error)?.name}; the claim is held.`,
    );
    return 'hold';
  }
}

/** A 4xx that is an answer, not a state of the moment. */
function isDeliberate(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && !transient.has(status);
}

/** Whether the error says that time ran out, which leaves open what happened. */
export function isTimeout(error: unknown): boolean {
  return timeouts.has((error as { name?: string } | null)?.name ?? '');
}

/** The HTTP status that an error carries under either of its usual names. */
export function statusOfError(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { statusCode, status } = error as { statusCode?: unknown; status?: unknown };
  const given = statusCode ?? status;
  return typeof given === 'number' || typeof given === 'string' ? Number(given) : undefined;
}

/** The parts of an error that are stored and thrown again. */
export function toRejection(error: unknown): Rejection {
  const { name, message, code, expose } = Object(error) as Record<string, unknown>;
  const status = statusOfError(error);
  return {
    name: typeof name === 'string' ? name : 'Error',
    message: typeof message === 'string' ? message : String(error),
    ...(status !== undefined && { status }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof expose === 'boolean' && { expose }),
  };
}

/** The recorded rejection as an error again: same name, message, status and code, and no stack of another process. */
export function fromRejection({ name, message, status, code, expose }: Rejection): Error {
  const error = new Error(message);
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  Object.assign(error, {
    ...(status !== undefined && { status, statusCode: status }),
    ...(code !== undefined && { code }),
    ...(expose !== undefined && { expose }),
  });
  error.stack = `${name}: ${message}`;
  return error;
}
