import { IdempotencyError } from '../errors.ts';
import { type Duration, toMilliseconds } from './duration.ts';
import type { BodySelection } from './fingerprint.ts';

/** What an option accepts, in words for the error and as a test. */
export interface Rule {
  readonly accepts: string;
  readonly test: (value: unknown) => boolean;
}

/** A rule from its words and its test. */
export function oneOf(accepts: string, test: (value: unknown) => boolean): Rule {
  return { accepts, test };
}

export const isText: Rule = oneOf('a non-empty string', (value) => typeof value === 'string' && value !== '');

/** A text of some form. A pattern alone would take `null` and lists as well, by the texts they turn into. */
export function isLike(accepts: string, pattern: RegExp): Rule {
  return oneOf(accepts, (value) => typeof value === 'string' && pattern.test(value));
}

export const isFunction: Rule = oneOf('a function', (value) => typeof value === 'function');
export const isFalse: Rule = oneOf('false', (value) => value === false);
export const isBoolean: Rule = oneOf('true or false', (value) => typeof value === 'boolean');

/** One of a few words. */
export function isWord(...words: string[]): Rule {
  const accepts = words.map((word) => `'${word}'`).join(' or ');
  return oneOf(accepts, (value) => words.includes(value as string));
}

/** Either of two rules. */
export function either(...rules: Rule[]): Rule {
  return oneOf(rules.map((rule) => rule.accepts).join(', or '), (value) =>
    rules.some((rule) => rule.test(value)),
  );
}

/** What every adapter takes for a scope: the word that there is none, or a function. */
export const isScope: Rule = either(isWord('none'), isFunction);

/** A list of non-empty strings. */
export const isTextList: Rule = oneOf(
  'a list of non-empty strings',
  (value) => Array.isArray(value) && value.every((item) => isText.test(item)),
);

/** An allow-list of JSON members. */
export const isBodySelection: Rule = oneOf('{ body: [paths], lowercase: [paths] }', (value) => {
  if (typeof value !== 'object' || value === null) return false;
  const { body, lowercase, ...rest } = value as BodySelection & Record<string, unknown>;
  const lists = [body, lowercase].filter((list) => list !== undefined);
  return (
    Object.keys(rest).length === 0 &&
    lists.length > 0 &&
    lists.every((list) => isTextList.test(list) && list.length > 0)
  );
});

/** A duration object between two bounds. */
export function isDuration(least: Duration, most: Duration): Rule {
  const [from, to] = [toMilliseconds(least) ?? 0, toMilliseconds(most) ?? 0];
  return oneOf(
    `a duration object such as { minutes: 5 }, from ${spell(least)} to ${spell(most)}`,
    (value) => {
      const length = toMilliseconds(value);
      return length !== undefined && length >= from && length <= to;
    },
  );
}

function spell(duration: Duration): string {
  return `{ ${Object.entries(duration)
    .map(([unit, amount]) => `${unit}: ${amount}`)
    .join(', ')} }`;
}

/**
 * Checks a whole options object once, at construction: names that do not exist, options that are missing, values out of
 * range. The message names the option, what it accepts and what was given; a text is not quoted, it may be a secret.
 *
 * @throws IdempotencyError `options`
 */
export function checkOptions(
  owner: string,
  options: unknown,
  rules: Readonly<Record<string, Rule>>,
  required: readonly string[] = [],
): void {
  const refuse = (message: string): never => {
    throw new IdempotencyError('options', `${owner}: ${message}`);
  };
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    refuse('options must be an object.');
    return;
  }
  for (const name of required) {
    if ((options as Record<string, unknown>)[name] === undefined) {
      refuse(`option "${name}" is required: ${rules[name]?.accepts}.`);
    }
  }
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) {
      refuse(`unknown option "${name}"; known options: ${Object.keys(rules).sort().join(', ')}.`);
    } else if (value !== undefined && !rule.test(value)) {
      refuse(`option "${name}" must be ${rule.accepts}; got ${show(value)}.`);
    }
  }
}

/**
 * The handler or function that an adapter wraps.
 *
 * @throws IdempotencyError `options`
 */
export function requireFunction(adapter: string, wrapped: unknown): void {
  if (typeof wrapped === 'function') return;
  throw new IdempotencyError('options', `${adapter}: the first argument must be a function.`);
}

function show(value: unknown): string {
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  if (typeof value === 'object' && value !== null)
    return toMilliseconds(value) === undefined ? 'an object' : JSON.stringify(value);
  return typeof value === 'function' ? 'a function' : String(value);
}
