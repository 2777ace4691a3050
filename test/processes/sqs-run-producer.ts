import { randomUUID } from 'node:crypto';
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Queue } from '../../tools/local/queue.ts';
import type { Order } from './sqs-run-plan.ts';

/** Sends each order as a message of its own, in their order; a deduplication id of the broker's never helps. */
export async function sendAll(client: SQSClient, queue: Queue, orders: readonly Order[]): Promise<void> {
  for (let first = 0; first < orders.length; first += 10) {
    const Entries = orders.slice(first, first + 10).map((order, index) => ({
      Id: String(index),
      MessageBody: JSON.stringify(order),
      ...(order.group !== undefined && {
        MessageGroupId: order.group,
        MessageDeduplicationId: randomUUID(),
      }),
    }));
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queue.url, Entries }));
    if (Failed.length > 0) throw new Error(`${queue.name} took not all: ${Failed[0]?.Message}`);
  }
}

/** Empties a queue. */
export async function receiveAll(
  client: SQSClient,
  queue: Queue,
  depth: () => Promise<number>,
): Promise<Order[]> {
  const orders: Order[] = [];
  while ((await depth()) > 0) {
    const command = new ReceiveMessageCommand({ QueueUrl: queue.url, MaxNumberOfMessages: 10 });
    for (const { Body = '', ReceiptHandle } of (await client.send(command)).Messages ?? []) {
      orders.push(JSON.parse(Body) as Order);
      await client.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle }));
    }
  }
  return orders;
}
