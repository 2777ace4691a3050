/** The relay of the outbox. A subpath of its own: handlers do not carry it. */
export type { OutboxEvent } from './domain/companion.ts';
export {
  type OutboxDelivery,
  type OutboxOptions,
  outboxHandler,
  type Sender,
} from './lambda/outbox-handler.ts';
export { eventBridgeSender, snsSender, sqsSender } from './lambda/senders.ts';
