import type { IncomingMessage } from 'node:http';
import type { Awaited, ChargeOrder } from './ledger.ts';

/** Something that a request says and that cannot be used: answered with this status and the field's name. */
export class BadRequest extends Error {
  readonly field: string;
  readonly status: number;

  constructor(field: string, rule: string, status = 400) {
    super(`${field} ${rule}`);
    this.name = 'BadRequest';
    this.field = field;
    this.status = status;
  }
}

/** Far more than an order takes. */
const bodyLimit = 16 * 1024;

/** Longer than a test waits for anything. */
const longestWait = 60_000;

const fields = new Set(['amount', 'currency', 'orderId', 'card']);

/** Reads what is to be charged. Throws `BadRequest` with the first field that is wrong. */
export async function readOrder(request: IncomingMessage): Promise<ChargeOrder> {
  const body = parse(await bodyOf(request));
  for (const name of Object.keys(body)) if (!fields.has(name)) throw new BadRequest(name, 'is not a field');
  const { amount, currency, orderId, card } = body;
  if (!Number.isSafeInteger(amount) || Number(amount) <= 0)
    throw new BadRequest('amount', 'must be a whole number above 0, in the smallest unit of the currency');
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency))
    throw new BadRequest('currency', 'must be three capital letters, such as EUR');
  return {
    amount: Number(amount),
    currency,
    ...(orderId !== undefined && { orderId: shortText('orderId', orderId) }),
    ...(card !== undefined && { card: shortText('card', card) }),
  };
}

/** Reads the key. Node joins repetitions of the header with a comma and a space, and a space is refused. */
export function readKey({ headers }: IncomingMessage): string | undefined {
  const key = headers['idempotency-key'];
  return key === undefined ? undefined : readReference('Idempotency-Key', String(key));
}

/** A reference is a key, so what could be no key cannot be asked for either. */
export function readReference(field: string, text: string | null): string {
  if (text === null || !/^[\x21-\x7e]{1,255}$/.test(text))
    throw new BadRequest(field, 'must be 1 to 255 visible ASCII characters');
  return text;
}

/** Reads what a caller of `GET /ledger` waits for, and for how many milliseconds. */
export function readAwaited(query: URLSearchParams): Awaited & { readonly wait: number } {
  const count = (name: string, fallback: number): number => {
    const text = query.get(name) ?? String(fallback);
    if (!/^\d{1,5}$/.test(text)) throw new BadRequest(name, 'must be a whole number of at most 5 digits');
    return Number(text);
  };
  const wait = count('wait', 10_000);
  if (wait > longestWait) throw new BadRequest('wait', `must be at most ${longestWait} milliseconds`);
  const reference = query.has('reference') && readReference('reference', query.get('reference'));
  return {
    wait,
    arrived: count('arrived', 0),
    charges: count('charges', 0),
    ...(reference !== false && { reference }),
  };
}

function shortText(field: string, value: unknown): string {
  if (typeof value !== 'string' || value.length === 0 || value.length > 200)
    throw new BadRequest(field, 'must be a text of 1 to 200 characters');
  return value;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  const rule = 'must be JSON: { "amount": 1250, "currency": "EUR" }';
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    throw new BadRequest('body', rule);
  }
  throw new BadRequest('body', rule);
}

/** Read to its end, so that the caller hears the answer; kept only as far as it is allowed to go. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= bodyLimit) chunks.push(chunk);
  }
  if (size > bodyLimit) throw new BadRequest('body', `must be at most ${bodyLimit} bytes`, 413);
  return Buffer.concat(chunks).toString();
}
