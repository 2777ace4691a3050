import { digestOf } from '../domain/digest.ts';
import { IdempotencyError } from '../errors.ts';
import type { OutboxDelivery, Sender } from './outbox-handler.ts';

/** A client of the SDK: only `send` is used. */
interface Client {
  // biome-ignore lint/suspicious/noExplicitAny: the clients overload `send` in ways no narrower type covers
  send(command: any): Promise<any>;
}

/** What a consumer gets: `key` to dedupe on, `type` and `detail`. */
function messageOf({ key, type, detail }: OutboxDelivery): string {
  return JSON.stringify({ key, type, detail });
}

/**
 * Sends to an SQS queue: a JSON body `{ key, type, detail }`, for which `bodyKey('key')` is the consumer's key. On a FIFO queue
 * the group is the operation's record, so its events keep their order, and the key is the deduplication id.
 */
export function sqsSender({
  client,
  queueUrl,
}: {
  readonly client: Client;
  readonly queueUrl: string;
}): Sender {
  const isFifo = queueUrl.endsWith('.fifo');
  return async (event) => {
    const { SendMessageCommand } = await load('@aws-sdk/client-sqs', () => import('@aws-sdk/client-sqs'));
    const order = { MessageGroupId: event.record.slice(-128), MessageDeduplicationId: idOf(event.key) };
    await client.send(
      new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: messageOf(event), ...(isFifo && order) }),
    );
  };
}

/** Publishes to an SNS topic: the same message; `type` also as a message attribute, for filter policies. */
export function snsSender({
  client,
  topicArn,
}: {
  readonly client: Client;
  readonly topicArn: string;
}): Sender {
  const isFifo = topicArn.endsWith('.fifo');
  return async (event) => {
    const { PublishCommand } = await load('@aws-sdk/client-sns', () => import('@aws-sdk/client-sns'));
    const order = { MessageGroupId: event.record.slice(-128), MessageDeduplicationId: idOf(event.key) };
    await client.send(
      new PublishCommand({
        TopicArn: topicArn,
        Message: messageOf(event),
        MessageAttributes: { type: { DataType: 'String', StringValue: event.type } },
        ...(isFifo && order),
      }),
    );
  };
}

/**
 * Puts events on an EventBridge bus: `detail-type` is the type, `detail` is `{ key, detail }`, for which
 * `eventBridgeKey('key')` is the consumer's key. An entry that the bus refuses is a failure.
 */
export function eventBridgeSender({
  client,
  source,
  eventBusName,
}: {
  readonly client: Client;
  readonly source: string;
  readonly eventBusName?: string | undefined;
}): Sender {
  return async ({ type, key, detail, createdAt }) => {
    const { PutEventsCommand } = await load(
      '@aws-sdk/client-eventbridge',
      () => import('@aws-sdk/client-eventbridge'),
    );
    const entry = {
      Source: source,
      DetailType: type,
      Detail: JSON.stringify({ key, detail }),
      Time: createdAt,
      ...(eventBusName !== undefined && { EventBusName: eventBusName }),
    };
    const { FailedEntryCount = 0, Entries = [] } = await client.send(
      new PutEventsCommand({ Entries: [entry] }),
    );
    if (FailedEntryCount > 0) throw new Error(`EventBridge refused the event: ${Entries[0]?.ErrorCode}.`);
  };
}

/** Brokers take 128 characters of a few kinds; for any other key its digest stands, of which there are no two alike. */
function idOf(key: string): string {
  return /^[\w!"#$%&'()*+,\-./:;<=>?@[\\\]^`{|}~]{1,128}$/.test(key)
    ? key
    : digestOf([key]).toString('base64url');
}

/** Loaded when first needed: whoever sends by one of them does not carry the others. */
async function load<Module>(name: string, importIt: () => Promise<Module>): Promise<Module> {
  try {
    return await importIt();
  } catch (error) {
    throw new IdempotencyError('options', `The sender needs the package ${name}.`, { cause: error });
  }
}
