import { admit } from '../adapters/http/admit.ts';
import { type AnswerStyle, answerHttp } from '../adapters/http/answer.ts';
import type { HttpEvent, HttpRequest } from '../adapters/http/event.ts';
import { isHttpShaped } from '../adapters/http/headers.ts';
import { defineHttpOperation, type HttpOptions } from '../adapters/http/options.ts';
import { problem } from '../adapters/http/problem.ts';
import { begin } from '../engine/begin.ts';
import { type HeldClaim, unheldClaim } from '../engine/claim.ts';
import type { LambdaContext } from '../engine/request.ts';
import { IdempotencyError } from '../errors.ts';
import { lend } from './claim-of.ts';
import { type Course, watch } from './course.ts';
import { type MiddyHooks, type MiddyRequest, PerRequest } from './middy.ts';
import { settleError, settleHook, settleUnsent } from './settle-hook.ts';

/** What a request of ours is in the middle of. */
type Business =
  | {
      readonly kind: 'held';
      readonly held: HeldClaim;
      readonly sent: HttpRequest | undefined;
      readonly course: () => Course;
    }
  | { readonly kind: 'refused'; readonly error: IdempotencyError; readonly sent: HttpRequest | undefined };

/**
 * The drop-in for an existing Middy chain (6 and 7): guards above it, response shapers below it. What it stores is the
 * answer as the middlewares below it left it, so a replay carries their headers as well.
 *
 * A refusal travels as an error, so that error handlers and CORS see it, and leaves as problem+json whether or not
 * anybody handled it.
 *
 * Hooks cannot see a handler that outlives Middy's early timeout, so its claim is held: after a `TimeoutError` or a 408
 * always, after any other passing failure within 250 ms of the deadline. With a `timeoutEarlyInMillis` above that and
 * an early answer of your own making, use `idempotentHttp`. An early answer of a middleware below skips our hooks and
 * leaves the claim to its lease.
 *
 * Failure semantics: as `idempotentHttp`.
 *
 * @throws IdempotencyError `options` at construction, or on the first request that reaches it in an order that cannot
 * work; for an event that is not HTTP, what would be an answer otherwise
 */
export function idempotency<Event = HttpEvent, Context = LambdaContext, Result = unknown>(
  options: HttpOptions<Event, Context, Result>,
): MiddyHooks<Event, Context> {
  const http = defineHttpOperation('idempotency', options);
  const businesses = new PerRequest<Business>();

  async function idempotencyBefore(request: MiddyRequest<Event, Context>): Promise<void> {
    const admitted = await admit(http, request.event, request.context);
    if (admitted.kind === 'bypass') return lend(request.context, unheldClaim(http.operation));
    const { sent } = admitted;
    const refuse = (error: IdempotencyError): never => {
      businesses.set(request, { kind: 'refused', error, sent });
      throw error;
    };
    if (admitted.kind === 'refused') return refuse(admitted.error);
    const begun = await begin(admitted.request);
    switch (begun.kind) {
      case 'run':
        businesses.set(request, { kind: 'held', held: begun.held, sent, course: watch(request) });
        return lend(request.context, begun.held.claim);
      case 'replay':
        // not `return`: a void result must stop the chain as well
        request.earlyResponse = answerHttp(http, sent, begun);
        return;
      case 'refused':
        return refuse(begun.error);
      default:
        return begun satisfies never;
    }
  }

  async function idempotencyAfter(request: MiddyRequest<Event, Context>): Promise<void> {
    const business = businesses.take(request);
    if (business?.kind !== 'held') return;
    const { response } = request;
    if (business.sent !== undefined && isUnserialized(response)) {
      await settleUnsent(business.held, response);
      throw new IdempotencyError(
        'options',
        'idempotency: the response body is not text yet, so a replay would bypass the serializer. Put the serializer below idempotency in the chain.',
      );
    }
    const settled = await settleHook(business.held, { kind: 'returned', value: response });
    if (settled.kind !== 'own') request.response = answerHttp(http, business.sent, settled);
  }

  async function idempotencyOnError(request: MiddyRequest<Event, Context>): Promise<void> {
    const business = businesses.take(request);
    if (business === undefined) return;
    if (business.kind === 'refused') return overlay(http, request, business);
    const settled = await settleError(business.held, business.course(), request.response);
    if (settled.kind !== 'own') request.response = answerHttp(http, business.sent, settled);
  }

  return { before: idempotencyBefore, after: idempotencyAfter, onError: idempotencyOnError };
}

/** An HTTP answer whose body is data: only a serializer outside can turn it into text, and replays pass it by. */
function isUnserialized(response: unknown): boolean {
  if (!isHttpShaped(response)) return false;
  const { body } = response;
  if (typeof body === 'number' || typeof body === 'boolean') return true;
  if (typeof body !== 'object' || body === null) return false;
  return Array.isArray(body) || Object.getPrototypeOf(body) === Object.prototype;
}

/** Our refusal, with the headers that others (CORS) have put on whatever an error handler made of it. */
function overlay(
  { style }: AnswerStyle,
  request: MiddyRequest<unknown, unknown>,
  { error, sent }: Extract<Business, { kind: 'refused' }>,
): void {
  if (sent === undefined) return;
  const ours = problem(error, style, sent.answersInMultiValues);
  const theirs = isHttpShaped(request.response) ? (request.response as Partial<typeof ours>) : {};
  const field = sent.answersInMultiValues ? 'multiValueHeaders' : 'headers';
  request.response = {
    ...theirs,
    ...ours,
    [field]: { ...withoutNames(theirs[field], ours[field]), ...ours[field] },
  };
}

/** Header names in any case: two spellings of one header would both be sent. */
function withoutNames(headers: object = {}, names: object = {}): object {
  const taken = new Set(Object.keys(names).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase())));
}
