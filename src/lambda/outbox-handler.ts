import type { DynamoRecordLike } from '../adapters/batch/payload.ts';
import type { BatchResponse } from '../adapters/batch/response.ts';
import { identifiersOf } from '../adapters/batch/response.ts';
import type { OutboxEvent } from '../domain/companion.ts';
import { checkOptions, isFunction } from '../domain/options.ts';
import { contain } from '../engine/contain.ts';
import { companion, companionPrefix } from '../names.ts';

/** An event on its way out. */
export interface OutboxDelivery extends OutboxEvent {
  /** The operation whose commit it followed from. */
  readonly operation: string;
  /** Id of that operation's record. Events of one record come in their order. */
  readonly record: string;
  readonly createdAt: Date;
}

/** Sends one event on. It resolves when the event is accepted, and throws when that is not known. */
export type Sender = (event: OutboxDelivery) => Promise<unknown>;

/** Options of {@link outboxHandler}. */
export interface OutboxOptions {
  readonly send: Sender;
  /** Told of an event that could not be sent, and why. The batch stops there and comes again. */
  readonly onFailure?: ((error: unknown, event: OutboxDelivery) => void) | undefined;
}

/**
 * A Lambda entry on the table's stream that relays what commits put into the outbox. The stream needs new images; filter it on
 * keys that begin with `#outbox#`, so that it is not woken for every claim. Records that are none of the outbox are passed
 * over.
 *
 * Failure semantics: at least once. An event that cannot be sent stops the batch at its record (partial batch response), and
 * everything from there on comes again; a relay that dies between a send and the checkpoint sends again. Consumers dedupe on
 * `key`, with this same library.
 *
 * @throws IdempotencyError `options` at construction, `input-invalid` for an event that is not of a stream
 */
export function outboxHandler(
  options: OutboxOptions,
): (event: { readonly Records: readonly DynamoRecordLike[] }) => Promise<BatchResponse> {
  checkOptions('outboxHandler', options, { send: isFunction, onFailure: isFunction }, ['send']);
  const { send, onFailure } = options;
  return async ({ Records }) => {
    const identifiers = identifiersOf<DynamoRecordLike>(Records, ({ dynamodb }) => dynamodb?.SequenceNumber);
    for (const [record, itemIdentifier] of identifiers) {
      for (const event of deliveriesOf(record)) {
        try {
          await send(event);
        } catch (error) {
          contain('onFailure', () => onFailure?.(error, event));
          // what comes after it waits for it: order is kept, and a stream goes on from its first failure anyway
          return { batchItemFailures: [{ itemIdentifier }] };
        }
      }
    }
    return { batchItemFailures: [] };
  };
}

/** The events that a record of the stream brings. A removal is the end of a relayed item. */
function deliveriesOf({ eventName, dynamodb }: DynamoRecordLike): OutboxDelivery[] {
  const image = dynamodb?.NewImage;
  if (eventName === 'REMOVE' || image?.id?.S?.startsWith(companionPrefix.outbox) !== true) return [];
  const events = JSON.parse(image[companion.events]?.S ?? '[]') as OutboxEvent[];
  const operation = image[companion.operation]?.S ?? '';
  const record = image[companion.record]?.S ?? '';
  const createdAt = new Date(Number(image[companion.createdAt]?.N));
  return events.map((event) => ({ ...event, operation, record, createdAt }));
}
