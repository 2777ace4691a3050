import { type Encoded, encodeOutcome, maximumResultBytes, type Outcome } from '../domain/outcome.ts';
import type { Operation } from './operation.ts';

/** The outcome in the form the operation stores. */
export function encodeFor({ storedForm }: Operation, outcome: Outcome): Encoded {
  return safely(() =>
    encodeOutcome(outcome.kind === 'value' ? { ...outcome, value: storedForm(outcome.value) } : outcome),
  );
}

/** What an effect brought, as the journal keeps it; `undefined` for a server error, which is no result. */
export function encodeResult(outcome: Outcome): string | undefined {
  const result = safely(() => encodeOutcome(outcome, maximumResultBytes));
  return result.kind === 'server-error' ? undefined : result.text;
}

/** An outcome as it is, for who knows nothing of the operation's form. */
export function encodeSafely(outcome: Outcome): Encoded {
  return safely(() => encodeOutcome(outcome));
}

/** A result whose getters or `toJSON` throw cannot be stored either; the effect has happened all the same. */
function safely(encode: () => Encoded): Encoded {
  try {
    return encode();
  } catch {
    return encodeOutcome({ kind: 'not-kept', reason: 'unfaithful' });
  }
}

/** Tells the observer how a claim was completed. */
export function reportCompleted({ name: operation, observe }: Operation, id: string, outcome: Encoded): void {
  if (outcome.kind === 'not-kept') {
    observe({ type: 'not-kept', operation, id, reason: outcome.reason, detail: outcome.detail });
  } else if (outcome.kind === 'kept') {
    observe({ type: 'completed', operation, id, outcome: outcome.of });
  }
}
