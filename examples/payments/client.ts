import type { Charge, ChargeOrder } from './ledger.ts';

/** Where the provider is and how long it is waited for. */
export interface PaymentsOptions {
  readonly url: string;
  /**
   * Milliseconds for a call, its answer read to the end. Default 5,000. Keep it below the operation's lease: who waits for
   * longer hears of a charge that somebody else may have to answer for by then.
   */
  readonly timeout?: number;
  /** Sent with every request, such as the `x-fault` of a drill. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How one charge is made. */
export interface ChargeOptions {
  /** The same on every attempt: 1 to 255 visible ASCII characters. Without one, nobody can ask about the charge. */
  readonly idempotencyKey?: string;
  /** Ends the wait, not the charge: a provider that has the request carries it out all the same. */
  readonly signal?: AbortSignal;
}

/**
 * A provider, as its callers see it. Both calls throw
 * - an Error with `statusCode` when the provider refuses with a 4xx: this request moved no money;
 * - an Error without a status for a 5xx, an answer that makes no sense and a broken connection: nobody knows;
 * - a `TimeoutError` when time ran out, and the reason of `signal` when that gave up: nobody knows either.
 */
export interface Payments {
  /** Charges; 402 is a declined card. A crash in here may leave a charge behind, also one that is made later. */
  readonly charge: (order: ChargeOrder, options?: ChargeOptions) => Promise<Charge>;
  /**
   * The charge of a key, the first if there are several. `undefined` is the provider's word that it has none now; a request
   * that is still on its way may make one later. Changes nothing.
   */
  readonly find: (
    reference: string,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<Charge | undefined>;
}

interface Sent {
  readonly method?: 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Speaks to a payment provider over HTTP. Sends every request once: to repeat it is the caller's decision. */
export function payments({ url, timeout = 5_000, headers = {} }: PaymentsOptions): Payments {
  if (!Number.isSafeInteger(timeout) || timeout <= 0)
    throw new RangeError(`timeout must be a whole number of milliseconds above 0, not ${timeout}`);

  const call = async (path: string, request: Sent, signal?: AbortSignal): Promise<unknown> => {
    const limits = [AbortSignal.timeout(timeout), ...(signal === undefined ? [] : [signal])];
    const { status, text } = await exchange(new URL(path, url), {
      ...request,
      headers: { ...headers, ...request.headers },
      signal: AbortSignal.any(limits),
    });
    if (status >= 200 && status < 300) return parse(text);
    const error = new Error(`the payment provider answered ${status}: ${text.slice(0, 200)}`);
    throw status >= 400 && status < 500 ? Object.assign(error, { statusCode: status }) : error;
  };

  return {
    async charge(order, { idempotencyKey, signal } = {}) {
      const headers = {
        'Content-Type': 'application/json',
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      };
      const answer = await call('/charges', { method: 'POST', headers, body: JSON.stringify(order) }, signal);
      return toCharge(answer);
    },
    async find(reference, { signal } = {}) {
      const answer = await call(`/charges?reference=${encodeURIComponent(reference)}`, {}, signal);
      const { charges } = Object(answer) as { charges?: unknown };
      if (!Array.isArray(charges)) throw new Error('the payment provider answered no list of charges');
      return charges.length === 0 ? undefined : toCharge(charges[0]);
    },
  };
}

/** One request and its whole answer. A redirect counts as the answer: following it would send a charge twice. */
async function exchange(url: URL, request: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { ...request, redirect: 'manual' });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    request.signal?.throwIfAborted();
    throw new Error('the connection to the payment provider failed', { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error('the payment provider answered no JSON', { cause });
  }
}

function toCharge(answer: unknown): Charge {
  if (typeof (answer as Charge | null)?.chargeId === 'string') return answer as Charge;
  throw new Error('the payment provider answered no charge');
}
