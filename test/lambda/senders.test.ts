import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventBridgeSender, type OutboxDelivery, snsSender, sqsSender } from '../../src/outbox.ts';
import { type QueueService, startQueues } from '../../tools/local/queue.ts';

const event: OutboxDelivery = {
  type: 'order-placed',
  detail: { id: 'o-1' },
  key: 'notify:order:o-1',
  operation: 'place',
  record: 'place#abc',
  createdAt: new Date(1_900_000_000_000),
};
let queues: QueueService;
beforeAll(async () => {
  queues = await startQueues();
});
afterAll(() => queues.stop());

test.each(['orders', 'orders.fifo'])(
  'sqsSender puts key, type and detail into the queue %s',
  async (name) => {
    const { url } = await queues.createQueue(name, { visibility: 5 });
    await sqsSender({ client: queues.client, queueUrl: url })(event);
    const { Messages = [] } = await queues.client.send(
      new ReceiveMessageCommand({ QueueUrl: url, MessageSystemAttributeNames: ['All'] }),
    );
    expect(JSON.parse(Messages[0]?.Body ?? '')).toEqual({
      key: event.key,
      type: event.type,
      detail: event.detail,
    });
    const order = { MessageGroupId: 'place#abc', MessageDeduplicationId: event.key };
    if (name.endsWith('.fifo')) expect(Messages[0]?.Attributes).toMatchObject(order);
  },
);

test('on a FIFO queue one event sent twice is there once, also under a key that brokers do not take', async () => {
  const queue = await queues.createQueue('twice.fifo', { visibility: 5 });
  const send = sqsSender({ client: queues.client, queueUrl: queue.url });
  for (const key of ['käse', 'käse', 'x'.repeat(200), `${'x'.repeat(200)}y`]) await send({ ...event, key });
  expect(await queues.depthOf(queue)).toBe(3);
});

/** What a client was asked to send. */
function stub(answer: object = {}) {
  const inputs: Record<string, unknown>[] = [];
  const send = async (command: { input: Record<string, unknown> }): Promise<object> => {
    inputs.push(command.input);
    return answer;
  };
  return { client: { send }, inputs };
}

test('snsSender publishes the same message, its type as an attribute', async () => {
  const { client, inputs } = stub();
  await snsSender({ client, topicArn: 'arn:aws:sns:eu-west-1:1:orders.fifo' })(event);
  expect(inputs).toMatchObject([
    {
      TopicArn: 'arn:aws:sns:eu-west-1:1:orders.fifo',
      Message: JSON.stringify({ key: event.key, type: event.type, detail: event.detail }),
      MessageAttributes: { type: { DataType: 'String', StringValue: 'order-placed' } },
      MessageGroupId: 'place#abc',
      MessageDeduplicationId: event.key,
    },
  ]);
});

test('eventBridgeSender puts an event on the bus; one that the bus refuses is a failure', async () => {
  const { client, inputs } = stub({ FailedEntryCount: 0, Entries: [{ EventId: '1' }] });
  await eventBridgeSender({ client, source: 'shop', eventBusName: 'orders' })(event);
  expect(inputs).toMatchObject([
    {
      Entries: [
        {
          Source: 'shop',
          DetailType: 'order-placed',
          Detail: JSON.stringify({ key: event.key, detail: event.detail }),
          Time: event.createdAt,
          EventBusName: 'orders',
        },
      ],
    },
  ]);
  const full = stub({ FailedEntryCount: 1, Entries: [{ ErrorCode: 'ThrottlingException' }] });
  await expect(eventBridgeSender({ client: full.client, source: 'shop' })(event)).rejects.toThrow(
    'ThrottlingException',
  );
});
