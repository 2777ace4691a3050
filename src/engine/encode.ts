import { type Encoded, encodeOutcome, type Outcome } from '../domain/outcome.ts';
import type { Operation } from './operation.ts';

/**
 * The outcome in the form the operation stores. A result whose getters or `toJSON` throw cannot be stored either; the
 * effect has happened all the same.
 */
export function encodeFor({ storedForm }: Operation, outcome: Outcome): Encoded {
  try {
    return encodeOutcome(
      outcome.kind === 'value' ? { ...outcome, value: storedForm(outcome.value) } : outcome,
    );
  } catch {
    return encodeOutcome({ kind: 'not-kept', reason: 'unfaithful' });
  }
}

/** Tells the observer how a claim was completed. */
export function reportCompleted({ name: operation, observe }: Operation, id: string, encoded: Encoded): void {
  if (encoded.kind === 'not-kept') {
    observe({ type: 'not-kept', operation, id, reason: encoded.reason, detail: encoded.detail });
  } else if (encoded.kind === 'kept') {
    observe({ type: 'completed', operation, id, outcome: encoded.of });
  }
}
