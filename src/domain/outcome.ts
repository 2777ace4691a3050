import { restoreStorable, storable } from './storable.ts';

/** What a completed record says to every duplicate. */
export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'rejection'; readonly rejection: Rejection }
  | { readonly kind: 'not-kept'; readonly reason: NotKept; readonly status?: number };

/** A deliberate refusal that was thrown, in the parts that are thrown again on replay: never the stack. */
export interface Rejection {
  readonly name: string;
  readonly message: string;
  readonly status?: number;
  readonly code?: string | number;
  /** Whether error handlers may show the message to the caller. */
  readonly expose?: boolean;
}

/** Why an answer is not stored: it does not survive storing, it is too large, or a newer version wrote it. */
export type NotKept = 'unfaithful' | 'too-large' | 'newer-version';

/** What became of an outcome on its way into the record. */
export type Encoded =
  | { readonly kind: 'kept'; readonly of: 'value' | 'rejection'; readonly text: string }
  | { readonly kind: 'not-kept'; readonly text: string; readonly reason: NotKept; readonly detail: string }
  /** A server error is no outcome: stored, it would be replayed long after the fault is mended. */
  | { readonly kind: 'server-error'; readonly status: number };

/**
 * An item holds 400 KB with names and all other attributes. The rest of the record stays under 2 KB, so this leaves
 * room to spare.
 */
export const maximumOutcomeBytes: number = 380 * 1024;

const version = '1';

/** An effect's result lies in the record beside others, until the operation has an outcome of its own. */
export const maximumResultBytes: number = 64 * 1024;

/**
 * An opaque text, so that numbers, order and nesting come back as they were; never a DynamoDB map.
 *
 * @param maximum bytes that it may take
 */
export function encodeOutcome(outcome: Outcome, maximum: number = maximumOutcomeBytes): Encoded {
  const status = statusOf(outcome);
  if (status !== undefined && status >= 500) return { kind: 'server-error', status };
  if (outcome.kind === 'not-kept') return notKept(outcome.reason, 'it was not kept before', status);
  if (outcome.kind === 'rejection')
    return keptWithin(maximum, 'rejection', `${version}r${JSON.stringify(outcome.rejection)}`, status);
  if (outcome.value === undefined) return { kind: 'kept', of: 'value', text: `${version}u` };
  const json = storable(outcome.value);
  if (json.kind === 'unfaithful') return notKept('unfaithful', json.detail, status);
  // a `toJSON` may say a status that the object does not show
  const said = statusOfValue(json.form);
  if (said !== undefined && said >= 500) return { kind: 'server-error', status: said };
  return keptWithin(maximum, 'value', `${version}v${json.text}`, said);
}

/** The outcome of a stored text. What this version cannot read is never run again: it counts as not kept. */
export function decodeOutcome(text: string | undefined): Outcome {
  try {
    return read(text);
  } catch {
    return { kind: 'not-kept', reason: 'newer-version' };
  }
}

function read(text: string | undefined): Outcome {
  const [stored, kind, body] = [text?.slice(0, 1), text?.slice(1, 2), text?.slice(2) ?? ''];
  if (stored !== version) return { kind: 'not-kept', reason: 'newer-version' };
  switch (kind) {
    case 'u':
      return { kind: 'value', value: undefined };
    case 'v':
      return { kind: 'value', value: restoreStorable(body) };
    case 'r':
      return { kind: 'rejection', rejection: JSON.parse(body) as Rejection };
    case 'n':
      return { kind: 'not-kept', ...(JSON.parse(body) as { reason: NotKept; status?: number }) };
    default:
      return { kind: 'not-kept', reason: 'newer-version' };
  }
}

function keptWithin(
  maximum: number,
  of: 'value' | 'rejection',
  text: string,
  status: number | undefined,
): Encoded {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maximum) return { kind: 'kept', of, text };
  return notKept('too-large', `it takes ${bytes} bytes of ${maximum}`, status);
}

function notKept(reason: NotKept, detail: string, status: number | undefined): Encoded {
  const text = `${version}n${JSON.stringify(status === undefined ? { reason } : { reason, status })}`;
  return { kind: 'not-kept', text, reason, detail };
}

/** The HTTP status an outcome stands for, if it has one. */
function statusOf(outcome: Outcome): number | undefined {
  switch (outcome.kind) {
    case 'value':
      return statusOfValue(outcome.value);
    case 'rejection':
      return outcome.rejection.status;
    case 'not-kept':
      return outcome.status;
    default:
      return outcome satisfies never;
  }
}

/** `statusCode` of a result that has one, `"502"` included: API Gateway accepts the text as well. */
export function statusOfValue(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('statusCode' in value)) return undefined;
  return toStatus(value.statusCode);
}

/** An HTTP status, three digits, as a number or its text; anything else is no status. */
export function toStatus(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const status = Number(value);
  return Number.isInteger(status) && status >= 100 && status <= 999 ? status : undefined;
}
