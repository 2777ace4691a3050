import { companionPrefix } from '../names.ts';
import { digestOf } from './digest.ts';

/**
 * That something was done, for good: an item without an end, put in the same transaction as the outcome. It answers the late
 * retry that the retention has forgotten.
 */
export interface Unique {
  readonly id: string;
  readonly operation: string;
  /** Id of the record whose commit put it. */
  readonly record: string;
  readonly fingerprint?: string | undefined;
  /** What the handler that committed calls the thing. */
  readonly reference?: string | undefined;
  /** HTTP status of the first answer. */
  readonly status?: number | undefined;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** The events of one commit, in their order, until they are relayed. */
export interface Outgoing {
  readonly id: string;
  readonly operation: string;
  readonly record: string;
  /** JSON of {@link OutboxEvent}s. */
  readonly events: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch SECONDS. */
  readonly expiresAt: number;
}

/** What follows from a commit, as the outbox keeps it. */
export interface OutboxEvent {
  readonly type: string;
  readonly detail: unknown;
  /** What consumers dedupe on. */
  readonly key: string;
}

/** The item of a business reference. Its parts cannot be read from it; scopes do not meet. */
export function uniqueId(scope: string, parts: readonly string[]): string {
  return companionPrefix.unique + digestOf(['lambda-once unique 1', scope, ...parts]).toString('base64url');
}

/** The item of one commit's events: each life of a record has its own. */
export function outboxId(record: string, fence: number): string {
  return (
    companionPrefix.outbox + digestOf(['lambda-once outbox 1', record, String(fence)]).toString('base64url')
  );
}
