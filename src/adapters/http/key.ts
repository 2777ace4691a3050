import { IdempotencyError } from '../../errors.ts';

/** Stripe's published limit, which the draft's examples stay under. */
const longestKey = 255;

const printable = /^[\x20-\x7e]+$/;
const line = /^[\t\x20-\x7e]*$/;
const quoted = /^"((?:[^"\\]|\\["\\])*)"$/;

/**
 * The key in a header's values, or `undefined` when the header is absent. Follows the draft's structured-field string
 * (RFC 8941, section 3.3.3) and takes the bare form for the same value. A bare value with a comma is two values
 * (RFC 9110, section 5.3: a field sent twice arrives joined): a key with a comma must be quoted.
 *
 * @throws IdempotencyError `key-invalid`, before any store call; nothing is truncated
 */
export function parseKey(header: string, values: readonly string[]): string | undefined {
  const [first, ...others] = values.flatMap((value) => parts(value)).map((part) => parsePart(header, part));
  if (first === undefined) return undefined;
  if (others.some((other) => other !== first)) throw invalid(header, 'has two different values');
  return first;
}

/** One part per value, empty ones included; commas inside a quoted string do not count. */
function parts(value: string): string[] {
  const ended = `${value},`.match(/(?:[ \t]*"(?:[^"\\]|\\.)*"[^,]*|[^,]*),/g) ?? [];
  return ended.map((part) => part.slice(0, -1));
}

function parsePart(header: string, part: string): string {
  // first, because `trim` would take away more than the spaces and tabs that HTTP allows around a value
  if (!line.test(part)) throw invalid(header, 'has characters that are not printable ASCII');
  const text = part.trim();
  const key = text.startsWith('"') ? unquote(header, text) : text;
  if (key.trim() === '') throw invalid(header, 'is blank');
  if (!printable.test(key)) throw invalid(header, 'has characters that are not printable ASCII');
  if (key.length > longestKey) throw invalid(header, `has ${key.length} characters`);
  return key;
}

function unquote(header: string, text: string): string {
  const inner = quoted.exec(text)?.[1];
  if (inner === undefined) throw invalid(header, 'is not a well-formed quoted string');
  return inner.replace(/\\(["\\])/g, '$1');
}

function invalid(header: string, what: string): IdempotencyError {
  return new IdempotencyError(
    'key-invalid',
    `The header ${header} ${what}. It takes one key of 1 to ${longestKey} printable ASCII characters, bare or in double quotes.`,
  );
}
