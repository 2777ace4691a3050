import type { Outgoing, Unique } from '../domain/companion.ts';
import type { OnceRecord } from '../domain/record.ts';
import type { Transition } from '../domain/transition.ts';

/** Attributes by name, as plain values (`'o-1'`) or as the wire has them (`{ S: 'o-1' }`). */
export type Attributes = Readonly<Record<string, unknown>>;

interface Conditioned {
  readonly TableName?: string | undefined;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Attributes | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD' | 'NONE' | undefined;
}

/**
 * A write of the caller's own, as `TransactWriteItems` takes it: of the client or of the document client, one shape for the
 * whole action. Plain values need `@aws-sdk/util-dynamodb`, which Lambda has and the document client brings.
 */
export type WriteAction =
  | {
      readonly Put: Conditioned & {
        readonly Item: Attributes | undefined;
        readonly ConditionExpression?: string | undefined;
      };
    }
  | {
      readonly Update: Conditioned & {
        readonly Key: Attributes | undefined;
        readonly UpdateExpression: string | undefined;
        readonly ConditionExpression?: string | undefined;
      };
    }
  | {
      readonly Delete: Conditioned & {
        readonly Key: Attributes | undefined;
        readonly ConditionExpression?: string | undefined;
      };
    }
  | {
      readonly ConditionCheck: Conditioned & {
        readonly Key: Attributes | undefined;
        readonly ConditionExpression: string | undefined;
      };
    };

/** One transaction: the outcome, and all that is to happen with it or not at all. */
export interface Commit {
  /** The same for every repetition, so that a lost reply is not a second transaction. At most 36 characters. */
  readonly token: string;
  /** Not there where nothing protects the run. */
  readonly transition?: Extract<Transition, { kind: 'claim' | 'take-over' | 'complete' }> | undefined;
  readonly uniques: readonly Unique[];
  readonly outgoing: readonly Outgoing[];
  readonly writes: readonly WriteAction[];
}

/** How a transaction ended. */
export type Committed =
  | { readonly kind: 'applied' }
  /** Refused because the very same transaction had landed before: a lost reply, repeated. */
  | { readonly kind: 'applied-before' }
  /** Our record is not as it must be. */
  | { readonly kind: 'refused'; readonly record: OnceRecord | undefined }
  /** A business reference is taken. */
  | { readonly kind: 'taken'; readonly by: Unique }
  /** A condition of the caller's own, by its place in `writes`. */
  | {
      readonly kind: 'write-refused';
      readonly index: number;
      readonly reason: string;
      readonly item?: Attributes | undefined;
    }
  /** Others write the same items, or too much is written: nothing landed, try again. */
  | { readonly kind: 'contended' };

/** What a transaction of DynamoDB takes at the most. */
export const mostActions = 100;
export const mostBytes: number = 4 * 1024 * 1024;
