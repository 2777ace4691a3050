/** Every name that a table, a policy or an environment can see. `lib/` imports this file and nothing else of `src/`. */

/** Attributes of a record. Fixed: a table written by one version is read by the next. */
export const attribute = {
  /** Partition key: operation, `#`, digest of operation, scope and key. */
  id: 'id',
  state: 'state',
  owner: 'owner',
  fence: 'fence',
  attempt: 'attempt',
  fingerprint: 'fingerprint',
  /** Epoch milliseconds. */
  claimedAt: 'claimedAt',
  /** Epoch milliseconds. */
  leaseUntil: 'leaseUntil',
  /** Epoch milliseconds; set when a claim was completed, released or resolved. */
  endedAt: 'endedAt',
  /** Epoch SECONDS, because DynamoDB's TTL reads it. */
  expiresAt: 'expiresAt',
  outcome: 'outcome',
  resolvedBy: 'resolvedBy',
  resolvedWhy: 'resolvedWhy',
} as const;

export const environment = {
  /** Name of the table, read when the first request comes, never at import. */
  table: 'LAMBDA_ONCE_TABLE',
  /** `true` or `1` switches every adapter off: handlers run unprotected, no store call, no client. */
  disabled: 'LAMBDA_ONCE_DISABLED',
} as const;
