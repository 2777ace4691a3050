import { toJson } from '../../domain/canonical-value.ts';
import { fingerprintOf } from '../../domain/fingerprint.ts';
import { newRequest, type Request } from '../../engine/request.ts';
import { isSwitchedOff } from '../../engine/switch.ts';
import { IdempotencyError, isIdempotencyError } from '../../errors.ts';
import { isNothing, requireKey, requireScope } from '../identity.ts';
import { type HttpRequest, readHttp } from './event.ts';
import { fingerprintHttp } from './fingerprint.ts';
import { parseKey } from './key.ts';
import type { HttpOperation } from './options.ts';

/** How an event enters: past us, as a request with an identity, or not at all. */
export type Admitted =
  | { readonly kind: 'bypass' }
  | { readonly kind: 'request'; readonly request: Request; readonly sent: HttpRequest | undefined }
  | { readonly kind: 'refused'; readonly error: IdempotencyError; readonly sent: HttpRequest | undefined };

/**
 * Settles the identity once, before anybody else can change the event. No store call. `sent` is the
 * HTTP request, as it was read then. An event that is not HTTP is taken when the operation has a `key` function; then the
 * whole event is its meaning.
 */
export async function admit<Event, Context>(
  http: HttpOperation<Event, Context>,
  event: Event,
  context: Context,
  signal?: AbortSignal,
): Promise<Admitted> {
  const { operation, methods, required } = http;
  const pass = (reason: 'disabled' | 'method' | 'no-key'): Admitted => {
    operation.observe({ type: 'bypassed', operation: operation.name, reason });
    return { kind: 'bypass' };
  };
  if (isSwitchedOff()) return pass('disabled');
  const sent = readHttp(event);
  if (sent !== undefined && !methods.has(sent.method)) return pass('method');
  try {
    const key = await keyOf(http, event, context, sent);
    if (key === undefined && !required) return pass('no-key');
    if (key === undefined) throw missing(http, sent);
    const scope = http.scope === 'none' ? 'none' : requireScope(await http.scope(event, context));
    const fingerprint = meaningOf(http, event, sent);
    return {
      kind: 'request',
      request: newRequest(operation, { scope, key }, fingerprint, context, signal),
      sent,
    };
  } catch (error) {
    // what a user's own key or scope function throws is the user's
    if (!isIdempotencyError(error)) throw error;
    operation.observe({ type: 'refused', operation: operation.name, code: error.code });
    return { kind: 'refused', error, sent };
  }
}

async function keyOf<Event, Context>(
  { key, header }: HttpOperation<Event, Context>,
  event: Event,
  context: Context,
  request: HttpRequest | undefined,
): Promise<string | undefined> {
  if (key === undefined) return request === undefined ? undefined : parseKey(header, request.header(header));
  const chosen = await key(event, context);
  return isNothing(chosen) ? undefined : requireKey(chosen);
}

function missing<Event, Context>(
  { header, key }: HttpOperation<Event, Context>,
  request: HttpRequest | undefined,
): IdempotencyError {
  if (key !== undefined) return new IdempotencyError('key-missing', 'The key function yielded nothing.');
  if (request !== undefined) return new IdempotencyError('key-missing', `The header ${header} is required.`);
  return new IdempotencyError('key-missing', 'The event is not HTTP and the operation has no key function.');
}

function meaningOf<Event, Context>(
  { fingerprint }: HttpOperation<Event, Context>,
  event: Event,
  request: HttpRequest | undefined,
): string | undefined {
  if (fingerprint === false) return undefined;
  if (typeof fingerprint === 'function')
    return fingerprintOf(toJson(fingerprint(event), 'fingerprint(event)'));
  return request === undefined
    ? fingerprintOf(toJson(event, 'event'))
    : fingerprintHttp(request, fingerprint);
}
