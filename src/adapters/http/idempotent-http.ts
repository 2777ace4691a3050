import { requireFunction } from '../../domain/options.ts';
import { type Claim, unheldClaim } from '../../engine/claim.ts';
import type { LambdaContext } from '../../engine/request.ts';
import { runOnce } from '../../engine/run.ts';
import { admit } from './admit.ts';
import { answerHttp } from './answer.ts';
import type { HttpEvent } from './event.ts';
import { defineHttpOperation, type HttpOptions } from './options.ts';
import type { HttpAnswer } from './problem.ts';

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
  requireFunction('idempotentHttp', handler);
  const http = defineHttpOperation('idempotentHttp', options);
  return async function once(event: Event, context: Context, middy?: unknown): Promise<Result | HttpAnswer> {
    const admitted = await admit(http, event, context, signalOf(middy));
    if (admitted.kind === 'bypass') return handler(event, context, unheldClaim(http.operation));
    if (admitted.kind === 'refused') return answerHttp(http, admitted.sent, admitted) as HttpAnswer;
    const ended = await runOnce(admitted.request, (claim) => handler(event, context, claim));
    return answerHttp(http, admitted.sent, ended) as Result;
  };
}

function signalOf(middy: unknown): AbortSignal | undefined {
  const signal = (middy as { signal?: unknown } | undefined)?.signal;
  return signal instanceof AbortSignal ? signal : undefined;
}
