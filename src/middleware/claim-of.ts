import type { Claim } from '../engine/claim.ts';
import { IdempotencyError } from '../errors.ts';

const claims = new WeakMap<object, Claim>();

/**
 * The claim under which a Middy handler runs, by the Lambda context; in a batch handler, by the record.
 *
 * @throws IdempotencyError `options` when no middleware of ours ran for this context or record
 */
export function claimOf(owner: object): Claim {
  const claim = claims.get(owner);
  if (claim !== undefined) return claim;
  throw new IdempotencyError('options', 'claimOf: no idempotency middleware ran for this context or record.');
}

/** Makes a claim known to {@link claimOf}. */
export function lend(owner: unknown, claim: Claim): void {
  if (typeof owner === 'object' && owner !== null) claims.set(owner, claim);
}
