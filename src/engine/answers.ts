import { decodeOutcome, type Outcome } from '../domain/outcome.ts';
import type { OnceRecord } from '../domain/record.ts';
import { type ErrorCode, type ErrorDetail, IdempotencyError } from '../errors.ts';
import type { HeldClaim } from './claim.ts';
import { clientIn, type Request } from './request.ts';

/** An answer that does not come from running: the first one's, or a refusal. */
export type Answered =
  | { readonly kind: 'replay'; readonly outcome: Outcome }
  | { readonly kind: 'refused'; readonly error: IdempotencyError };

/** What a delivery may do. */
export type Begun = { readonly kind: 'run'; readonly held: HeldClaim } | Answered;

/** In-doubt is settled by a sweep or a person, not within seconds. */
const retryAfterInDoubt = 30;

/** Long enough not to hammer, short enough that the client still waits: most winners answer long before their lease. */
const longestRetryAfter = 10;

/** The first answer again; or, where it could not be kept, the word that it was done. */
export function replay(request: Request, record: OnceRecord): Answered {
  return replayOutcome(request, decodeOutcome(record.outcome));
}

/** The same for an outcome that was just found. */
export function replayOutcome(request: Request, outcome: Outcome): Answered {
  const { operation, id } = request;
  if (outcome.kind === 'not-kept') {
    const detail = outcome.status === undefined ? {} : { originalStatus: outcome.status };
    return refuse(
      request,
      'outcome-not-kept',
      'The request was carried out; its answer was not kept.',
      detail,
    );
  }
  const { kind } = outcome;
  operation.observe({
    type: 'replayed',
    operation: operation.name,
    id,
    outcome: kind,
    ...clientIn(request),
  });
  if (outcome.kind === 'rejection') return { kind: 'replay', outcome };
  // what a sweeper or a person stored has not been through the operation's own form yet
  return { kind: 'replay', outcome: { ...outcome, value: operation.storedForm(outcome.value) } };
}

/** Somebody else runs: come back when it may be over. */
export function refuseBusy(request: Request, record: OnceRecord): Answered {
  const { store, skew } = request.operation;
  const seconds = Math.ceil((record.leaseUntil + skew - store.now()) / 1000);
  const retryAfter = Math.min(Math.max(1, seconds), longestRetryAfter);
  return refuse(request, 'busy', 'The first request with this key is still running.', { retryAfter });
}

/** Nobody knows whether it happened. */
export function refuseInDoubt(request: Request): Answered {
  const message =
    'The first request with this key ended without a word; whether it took effect is being found out.';
  return refuse(request, 'in-doubt', message, { retryAfter: retryAfterInDoubt });
}

/** A refusal, told to the observer. */
export function refuse(
  request: Request,
  code: ErrorCode,
  message: string,
  detail: ErrorDetail = {},
): Answered {
  return refused(request, new IdempotencyError(code, message, { ...detail, id: request.id }));
}

export function refused({ operation, id }: Request, error: IdempotencyError): Answered {
  operation.observe({ type: 'refused', operation: operation.name, id, code: error.code });
  return { kind: 'refused', error };
}
