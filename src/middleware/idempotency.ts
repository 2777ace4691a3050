import { admit } from '../adapters/http/admit.ts';
import { isHttpShaped, problem } from '../adapters/http/answer.ts';
import type { HttpEvent } from '../adapters/http/event.ts';
import { readHttp } from '../adapters/http/event.ts';
import { answer } from '../adapters/http/idempotent-http.ts';
import { defineHttpOperation, type HttpOperation, type HttpOptions } from '../adapters/http/options.ts';
import { begin } from '../engine/begin.ts';
import type { Answered } from '../engine/begun.ts';
import { type Claim, type HeldClaim, unheldClaim } from '../engine/claim.ts';
import { type LambdaContext, timeLeft } from '../engine/request.ts';
import { complete, hold, release, settle } from '../engine/settle.ts';
import { type Ended, verdictOfError, verdictOfValue } from '../engine/verdict.ts';
import { statusOfValue } from '../domain/outcome.ts';
import { IdempotencyError } from '../errors.ts';

/** Middy's request, as far as it is used here. Typed structurally: Middy is an optional peer. */
export interface MiddyRequest<Event, Context> {
  event: Event;
  context: Context;
  response?: unknown;
  error?: unknown;
  earlyResponse?: unknown;
}

/** The three hooks. */
export interface IdempotencyMiddleware<Event, Context> {
  before(request: MiddyRequest<Event, Context>): Promise<void>;
  after(request: MiddyRequest<Event, Context>): Promise<void>;
  onError(request: MiddyRequest<Event, Context>): Promise<void>;
}

/** What a request of ours is in the middle of. */
type Business =
  | { readonly kind: 'held'; readonly held: HeldClaim; readonly course: () => Course }
  | { readonly kind: 'refused'; readonly error: IdempotencyError };

/** How a request went, until the first error. */
interface Course {
  readonly firstError: unknown;
  /** Set when something had answered before that error: the handler, or Middy's early timeout in its place. */
  readonly answered?: { readonly value: unknown };
}

const claims = new WeakMap<object, Claim>();

/**
 * The claim under which a Middy handler runs.
 *
 * @throws IdempotencyError `options` when no `idempotency` middleware ran for this context
 */
export function claimOf(context: object): Claim {
  const claim = claims.get(context);
  if (claim !== undefined) return claim;
  throw new IdempotencyError('options', 'claimOf: no idempotency middleware ran for this context.');
}

/**
 * The drop-in for an existing Middy chain (6 and 7): guards above it, response shapers below it. What it stores is the
 * answer as the middlewares below it left it, so a replay carries their headers as well.
 *
 * A refusal travels as an error, so that error handlers and CORS see it, and leaves as problem+json whether or not
 * anybody handled it. Hooks cannot see a handler that outlives Middy's early timeout: then the claim is held.
 *
 * Failure semantics: as `idempotentHttp`.
 *
 * @throws IdempotencyError `options` at construction, or on the first request that reaches it in an order that cannot
 * work; for an event that is not HTTP, what would be an answer otherwise
 */
export function idempotency<Event = HttpEvent, Context = LambdaContext, Result = unknown>(
  options: HttpOptions<Event, Context, Result>,
): IdempotencyMiddleware<Event, Context> {
  const http = defineHttpOperation('idempotency', options);
  // hooks of one request find each other through the request: one process may serve many at once
  const businesses = new WeakMap<object, Business>();

  async function idempotencyBefore(request: MiddyRequest<Event, Context>): Promise<void> {
    const refuse = (error: IdempotencyError): never => {
      businesses.set(request, { kind: 'refused', error });
      throw error;
    };
    const admitted = await admit(http, request.event, request.context);
    if (admitted.kind === 'bypass') return lend(request.context, unheldClaim(http.operation.name));
    if (admitted.kind === 'refused') return refuse(admitted.error);
    const begun = await begin(admitted.request);
    switch (begun.kind) {
      case 'run':
        businesses.set(request, { kind: 'held', held: begun.held, course: watch(request) });
        return lend(request.context, begun.held.claim);
      case 'replay':
        // not `return`: a void result must stop the chain as well
        request.earlyResponse = answer(http, request.event, begun);
        return;
      case 'refused':
        return refuse(begun.error);
      default:
        return begun satisfies never;
    }
  }

  async function idempotencyAfter(request: MiddyRequest<Event, Context>): Promise<void> {
    const business = take(businesses, request);
    if (business?.kind !== 'held') return;
    const { response } = request;
    if (isUnserialized(request)) {
      await settleUnsent(business.held, response);
      throw new IdempotencyError(
        'options',
        'idempotency: the response body is not text yet, so a replay would bypass the serializer. Put the serializer below idempotency in the chain.',
      );
    }
    const settled = await settleHook(business.held, { kind: 'returned', value: response });
    if (settled.kind !== 'own') request.response = standing(http, request, settled);
  }

  async function idempotencyOnError(request: MiddyRequest<Event, Context>): Promise<void> {
    const business = take(businesses, request);
    if (business === undefined) return;
    if (business.kind === 'refused') return overlay(http, request, business.error);
    const settled = await settleError(business.held, business.course(), request.response);
    if (settled.kind !== 'own') request.response = standing(http, request, settled);
  }

  return { before: idempotencyBefore, after: idempotencyAfter, onError: idempotencyOnError };
}

function lend(context: unknown, claim: Claim): void {
  if (typeof context === 'object' && context !== null) claims.set(context, claim);
}

function take(businesses: WeakMap<object, Business>, request: object): Business | undefined {
  const business = businesses.get(request);
  businesses.delete(request);
  return business;
}

/**
 * The error that was thrown first decides about the claim. An error handler below us replaces `request.error` by what
 * the client may see, before our hook runs: an early timeout would look like any 500, and be released while the handler
 * still runs. And Middy wipes the answer before it sets the error: without a look at what stood there, a shaper that
 * fails would free the key of a handler that succeeded.
 */
function watch(request: { error?: unknown; response?: unknown }): () => Course {
  const errors: unknown[] = [];
  const responses: unknown[] = [];
  tap(request, 'error', (error) => errors.push(error));
  tap(request, 'response', (response) => errors.length === 0 && responses.push(response));
  return () => {
    const firstError = errors.length > 0 ? errors[0] : request.error;
    // the last one is Middy's wiping
    return responses.length > 1 ? { firstError, answered: { value: responses.at(-2) } } : { firstError };
  };
}

/** The property stays what it was, and tells what is assigned to it. */
function tap<Name extends string>(
  target: { [name in Name]?: unknown },
  name: Name,
  told: (value: unknown) => void,
): void {
  let current = target[name];
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: true,
    get: () => current,
    set: (value: typeof current) => {
      told(value);
      current = value;
    },
  });
}

/** Milliseconds. Middy's early timeout may answer with any value or error of the user's making. */
const nearDeadline = 250;

/** So close to the deadline a passing failure may be Middy's early timeout, and the handler may still run: held. */
async function settleHook(held: HeldClaim, ended: Ended): ReturnType<typeof settle> {
  const { operation } = held.request;
  const verdict =
    ended.kind === 'returned'
      ? verdictOfValue(operation, ended.value)
      : verdictOfError(operation, ended.error);
  if (verdict === 'release' && timeLeft(held.request) < nearDeadline)
    return hold(held, 'close to the deadline');
  return settle(held, ended);
}

/** A rejection is stored as the answer that an error handler made of it, or, where none did, as the error. */
async function settleError(
  held: HeldClaim,
  { firstError: error, answered }: Course,
  response: unknown,
): ReturnType<typeof settle> {
  const { operation } = held.request;
  const verdict = verdictOfError(operation, error);
  if (answered !== undefined && (verdict !== 'record' || isMiddysOwn(error))) {
    return settleUnsent(held, answered.value);
  }
  if (verdict !== 'record') return settleHook(held, { kind: 'thrown', error });
  // a parser or validator of Middy's refused the request: the handler never saw it, and the key is free for a better one
  if (isMiddysOwn(error)) return release(held, 'refused by a middleware', true);
  if (response === undefined) return settle(held, { kind: 'thrown', error });
  held.done();
  return complete(held, { kind: 'value', value: operation.storedForm(response) });
}

/** The handler answered, but not this is what the caller got: whoever asks again is told that it was done. */
async function settleUnsent(held: HeldClaim, value: unknown): ReturnType<typeof settle> {
  if (verdictOfValue(held.request.operation, value) !== 'complete')
    return settleHook(held, { kind: 'returned', value });
  held.done();
  const status = statusOfValue(value);
  return complete(held, { kind: 'not-kept', reason: 'unfaithful', ...(status !== undefined && { status }) });
}

function isMiddysOwn(error: unknown): boolean {
  const { cause } = Object(error) as { cause?: { package?: unknown } };
  return typeof cause?.package === 'string' && cause.package.startsWith('@middy/');
}

/** An HTTP answer whose body is data: only a serializer outside can turn it into text, and replays pass it by. */
function isUnserialized({ event, response }: MiddyRequest<unknown, unknown>): boolean {
  if (readHttp(event) === undefined || !isHttpShaped(response)) return false;
  const { body } = response;
  if (typeof body === 'number' || typeof body === 'boolean') return true;
  if (typeof body !== 'object' || body === null) return false;
  return Array.isArray(body) || Object.getPrototypeOf(body) === Object.prototype;
}

/** The claim was lost: the answer that stands takes the place of our own. */
function standing<Event, Context>(
  http: HttpOperation<Event, Context>,
  request: MiddyRequest<Event, Context>,
  settled: Answered,
): unknown {
  return answer(http, request.event, settled);
}

/** Our refusal, with the headers that others (CORS) have put on whatever an error handler made of it. */
function overlay<Event, Context>(
  { style }: HttpOperation<Event, Context>,
  request: MiddyRequest<Event, Context>,
  error: IdempotencyError,
): void {
  const http = readHttp(request.event);
  if (http === undefined) return;
  const ours = problem(error, style, http.answersInMultiValues);
  const theirs = isHttpShaped(request.response) ? (request.response as Partial<typeof ours>) : {};
  const field = http.answersInMultiValues ? 'multiValueHeaders' : 'headers';
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
