import { type Claim, unheldClaim } from '../../engine/claim.ts';
import { fromRejection } from '../../engine/rejection.ts';
import type { LambdaContext } from '../../engine/request.ts';
import { type Answer, runOnce } from '../../engine/run.ts';
import { IdempotencyError } from '../../errors.ts';
import { admit } from './admit.ts';
import { type HttpAnswer, marked, problem } from './answer.ts';
import { type HttpEvent, readHttp } from './event.ts';
import { defineHttpOperation, type HttpOperation, type HttpOptions } from './options.ts';

/** A handler with the claim as its last argument. */
export type ClaimedHandler<Event, Context, Result> = (
  event: Event,
  context: Context,
  claim: Claim,
) => Promise<Result> | Result;

/** What takes the handler's seat. Middy's third argument is understood: its signal aborts the claim's. */
export type SeatedHandler<Event, Context, Result> = (
  event: Event,
  context: Context,
  middy?: unknown,
) => Promise<Result | HttpAnswer>;

/**
 * An HTTP handler that runs once per key, for API Gateway v1 and v2, function URLs and ALB. It takes the handler's
 * seat, so it sees the handler settle even after Middy's early timeout, and every other middleware runs on replays
 * as well. Refusals are answers (problem+json), not errors.
 *
 * Failure semantics: what the handler throws is thrown on, after the claim was recorded, released or held by the
 * rules of `classify` and `onFailure`. A process that dies leaves the claim to its lease, then to `onLapse`. When the
 * completion cannot be written the real answer still goes out.
 *
 * @throws IdempotencyError `options` at construction; for an event that is not HTTP, also what would be an answer
 */
export function idempotentHttp<Event = HttpEvent, Context = LambdaContext, Result = unknown>(
  handler: ClaimedHandler<Event, Context, Result>,
  options: HttpOptions<Event, Context, NoInfer<Result>>,
): SeatedHandler<Event, Context, Result> {
  if (typeof handler !== 'function')
    throw new IdempotencyError('options', 'idempotentHttp: the first argument must be a function.');
  const http = defineHttpOperation('idempotentHttp', options);
  return async function once(event: Event, context: Context, middy?: unknown): Promise<Result | HttpAnswer> {
    const admitted = await admit(http, event, context, signalOf(middy));
    if (admitted.kind === 'bypass') return handler(event, context, unheldClaim(http.operation.name));
    if (admitted.kind === 'refused') return answer(http, event, admitted) as HttpAnswer;
    const ended = await runOnce(admitted.request, (claim) => handler(event, context, claim));
    return answer(http, event, ended) as Result;
  };
}

/** The answer as a handler gives it. Shared by everything that answers for HTTP. */
export function answer<Event, Context>(
  http: HttpOperation<Event, Context>,
  event: Event,
  given: Answer,
): unknown {
  switch (given.kind) {
    case 'returned':
      return given.value;
    case 'thrown':
      throw given.error;
    case 'refused':
      return refusal(http, event, given.error);
    case 'replay':
      break;
    default:
      return given satisfies never;
  }
  const { outcome } = given;
  const request = readHttp(event);
  if (outcome.kind === 'rejection') {
    const error = fromRejection(outcome.rejection);
    throw request === undefined ? error : markedError(error, http.replayedHeader);
  }
  const value = outcome.kind === 'value' ? outcome.value : undefined;
  return marked(value, http.replayedHeader, request?.answersInMultiValues ?? false);
}

/** Error handlers send an error's `headers` along (http-errors does, Middy does), so a replayed rejection shows as one. */
function markedError(error: Error, header: string): Error {
  return Object.defineProperty(error, 'headers', {
    value: { [header]: 'true' },
    configurable: true,
    writable: true,
  });
}

/** A problem for HTTP; whoever sent another event gets the error itself. */
function refusal<Event, Context>(
  { style }: HttpOperation<Event, Context>,
  event: Event,
  error: IdempotencyError,
): HttpAnswer {
  const request = readHttp(event);
  if (request === undefined) throw error;
  return problem(error, style, request.answersInMultiValues);
}

function signalOf(middy: unknown): AbortSignal | undefined {
  const signal = (middy as { signal?: unknown } | undefined)?.signal;
  return signal instanceof AbortSignal ? signal : undefined;
}
