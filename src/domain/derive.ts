import { IdempotencyError } from '../errors.ts';
import { digestOf } from './digest.ts';

/** Part of every digest, so that a key derived here equals no other digest of the same texts. */
const purpose = 'lambda-once key 1';

/**
 * A key for a downstream, derived and never generated: the same for the same parent, name and index in every attempt,
 * process and version, another one for every other. 43 characters of URL-safe ASCII, out of which the parent cannot be
 * recovered. Names are yours to choose; each call that must be told apart needs a name or an index of its own.
 */
export function deriveKey(parent: string, name: string, index?: number): string {
  return digest(parent, name, index).toString('base64url');
}

/** The same as a UUID (version 8, RFC 9562, section 5.8), for what takes nothing else. */
export function deriveUuid(parent: string, name: string, index?: number): string {
  const bytes = digest(parent, name, index).subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function digest(parent: string, name: string, index: number | undefined): Buffer {
  return digestOf([purpose, parent, name, index === undefined ? '' : String(index)]);
}

/** As a key in a header may be. */
const longestKey = 255;

/** A template's text between its places; a place is a name in braces. */
const place = /\{(\w+)\}/g;

/**
 * The key of something that follows from an event, spelled as a template: `notify:order:{id}:confirmation`. Every event that
 * says the same gives the same key. What separates the places in the template is written as `%3A` and so on inside a value, so that no
 * two lists of values give one key.
 *
 * @throws IdempotencyError `key-missing` for a value that is not there or empty, `key-invalid` for a key over 255
 * characters, both naming the place and never the value; `options` for a template with nothing between two places
 */
export function eventKey(
  template: string,
  values: Readonly<Record<string, string | number | undefined>>,
): string {
  const between = template.split(/\{\w+\}/).slice(1, -1);
  if (between.some((text) => !/\W/.test(text))) {
    throw new IdempotencyError(
      'options',
      `The key "${template}" needs a separator, such as a colon, between two places.`,
    );
  }
  const separators = new Set(`%:{}${between.join('')}`.match(/\W/gu));
  const key = template.replace(place, (_place, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === null || value === '') {
      throw new IdempotencyError('key-missing', `The key "${template}" needs a value for {${name}}.`);
    }
    return String(value).replace(/\W/gu, (character) =>
      separators.has(character) ? escaped(character) : character,
    );
  });
  if (key.length <= longestKey) return key;
  throw new IdempotencyError(
    'key-invalid',
    `The key "${template}" comes out longer than ${longestKey} characters.`,
  );
}

/** Percent-encoding by UTF-8, also of the characters that URLs need not have encoded. */
function escaped(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}
