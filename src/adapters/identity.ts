import { IdempotencyError } from '../errors.ts';

/** What a key or scope function may yield. Nothing is checked when it is called, and is never a shared bucket. */
export type Yielded = string | null | undefined;

/**
 * The key that a key function gave. Only texts: a number and its text would be two keys in one client and one in
 * another. Of any length, since only a digest is stored.
 *
 * @throws IdempotencyError `key-missing` for nothing or blank, `key-invalid` for what is not well-formed text
 */
export function requireKey(key: unknown): string {
  if (isNothing(key)) {
    throw new IdempotencyError('key-missing', 'The key function yielded nothing.');
  }
  if (typeof key !== 'string' || !key.isWellFormed()) {
    throw new IdempotencyError(
      'key-invalid',
      `The key function must yield a well-formed string; it yielded ${describe(key)}.`,
    );
  }
  return key;
}

/** Whether a key function yielded nothing: a blank text would be shared by all broken clients. */
export function isNothing(key: unknown): boolean {
  return key === undefined || key === null || (typeof key === 'string' && key.trim() === '');
}

/**
 * The scope that a scope function gave. Nothing is an error and never a shared bucket: one caller would get another's
 * answers.
 *
 * @throws IdempotencyError `input-invalid`
 */
export function requireScope(scope: unknown): string {
  if (typeof scope === 'string' && scope.trim() !== '' && scope.isWellFormed()) return scope;
  throw new IdempotencyError(
    'input-invalid',
    `It cannot be told whose request this is: the scope function yielded ${describe(scope)}, not a non-empty string.`,
  );
}

function describe(value: unknown): string {
  if (typeof value === 'string') return value.trim() === '' ? 'a blank string' : 'text with a lone surrogate';
  return value === null ? 'null' : typeof value;
}
