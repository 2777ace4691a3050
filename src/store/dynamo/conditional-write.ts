import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { IdempotencyError } from '../../errors.ts';
import type { Attributes, WriteAction } from '../commit.ts';
import type { DynamoClient } from './store.ts';
import { tidyItem, toWireAction } from './write-action.ts';

/** How a conditional write ended: both first and second are success. */
export type ConditionalWrite =
  | { readonly kind: 'applied' }
  /** The condition failed because this very change was made before. */
  | { readonly kind: 'already-applied'; readonly item: Attributes | undefined }
  /** The condition failed because somebody else changed it otherwise. */
  | { readonly kind: 'conflicted'; readonly item: Attributes | undefined };

/** What {@link conditionalWrite} takes. */
export interface ConditionalWriteOptions {
  readonly client: DynamoClient;
  /** A put or an update with a condition, in plain values or in the wire's shape. */
  readonly write: Extract<WriteAction, { readonly Put: unknown } | { readonly Update: unknown }>;
  /** Whether the item that stands there is what this write would have made: by its version, its event id, its value. */
  readonly isApplied: (item: Attributes | undefined) => boolean;
}

/**
 * A conditional write of your own, safe to repeat without a claim: on a retry the condition fails because the first one succeeded,
 * and that is success. It tells applied, already applied, and conflicted with somebody else apart. (Seeds: "the middle case is
 * success".)
 *
 * @throws IdempotencyError `input-invalid`, `options`; what the client throws, other than the failed condition
 */
export async function conditionalWrite({
  client,
  write,
  isApplied,
}: ConditionalWriteOptions): Promise<ConditionalWrite> {
  const wire = await toWireAction(write, 0);
  const { Put, Update } = wire.action;
  const input = Put ?? Update;
  if (input?.ConditionExpression === undefined) {
    throw new IdempotencyError('input-invalid', 'conditionalWrite: the write needs a ConditionExpression.');
  }
  const asking = { ...input, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };
  try {
    await client.send(
      Put === undefined ? new UpdateItemCommand(asking as never) : new PutItemCommand(asking as never),
    );
    return { kind: 'applied' };
  } catch (error) {
    const { name, Item } = error as { name?: string; Item?: never };
    if (name !== 'ConditionalCheckFailedException') throw error;
    const item = await tidyItem(wire, Item);
    return { kind: isApplied(item) ? 'already-applied' : 'conflicted', item };
  }
}
