import { digestOf } from './digest.ts';

/** What one operation is told apart by. */
export interface Identity {
  readonly operation: string;
  readonly scope: string;
  readonly key: string;
}

/**
 * The record's partition key. No separator inside a part can make two identities equal (`a:b` + `c` against `a` +
 * `b:c`), and the digest keeps keys and e-mail addresses out of the table.
 */
export function recordId({ operation, scope, key }: Identity): string {
  return `${operation}#${digestOf([operation, scope, key]).toString('base64url')}`;
}

/**
 * Who sends, for counting replays by client: 12 characters of the scope's digest, which nobody reads the scope out of. None where an
 * operation has no scope.
 */
export function clientOf({ scope }: Identity): string | undefined {
  return scope === 'none' ? undefined : digestOf(['client', scope]).toString('base64url').slice(0, 12);
}

/** The operation's name out of a record id. */
export function operationOf(id: string): string {
  return id.slice(0, id.lastIndexOf('#'));
}
