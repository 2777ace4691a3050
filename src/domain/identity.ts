import { createHash } from 'node:crypto';

/** What one operation is told apart by. */
export interface Identity {
  readonly operation: string;
  readonly scope: string;
  readonly key: string;
}

/**
 * The record's partition key. Each part is preceded by its length, so no separator inside a part can make two
 * identities equal (`a:b` + `c` against `a` + `b:c`), and the digest keeps keys and e-mail addresses out of the table.
 */
export function recordId({ operation, scope, key }: Identity): string {
  const digest = createHash('sha256');
  for (const part of [operation, scope, key]) digest.update(`${Buffer.byteLength(part)}:`).update(part);
  return `${operation}#${digest.digest('base64url')}`;
}

/** The operation's name out of a record id. */
export function operationOf(id: string): string {
  return id.slice(0, id.lastIndexOf('#'));
}
