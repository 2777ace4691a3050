import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { startEventSourceMapping } from '../local/event-source-mapping.ts';
import { type Queue, type QueueService, startQueues } from '../local/queue.ts';
import type { InvokeResult } from '../local/runtime-api.ts';
import { compare, type Scene } from './scene.ts';
import type { World } from './world.ts';

/** Seconds; many times what a delivery takes here. */
const visibility = 3;

/**
 * A producer sends an order twice, under two message ids, and the answer to its first delivery gets lost, so that it is
 * delivered again. Beside it a message without an order id, which nobody can ship.
 */
export const shippedOnce: Scene = async (world) => {
  const service = await startQueues();
  try {
    const dead = await service.createQueue('orders-dead', { visibility });
    const deadLetter = { queue: dead, maxReceiveCount: 2 };
    const queue = await service.createQueue('orders', { visibility, deadLetter });
    const orderId = randomUUID();
    const send = (body: string): Promise<unknown> =>
      service.client.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: body }));
    await send(`{ "orderId": "${orderId}", "sku": "tea" }`);
    await send(`{ "sku": "tea", "orderId": "${orderId}" }`);
    await send('{ "sku": "tea" }');

    await consume(world, service, queue);
    const answers = await decisions(world, 3);
    const poisoned = await service.depthOf(dead);
    if (poisoned > 0) answers.set('failed to DLQ', poisoned);
    return compare(
      {
        title: 'SQS: sent twice, redelivered; a poison message',
        sent: 3,
        effects: await world.parcelsOf(orderId),
        answers,
      },
      { effects: 1, answers: { done: 1, replayed: 2, 'failed to DLQ': 1 } },
    );
  } finally {
    await service.stop();
  }
};

/** Until the queue is empty, one message at a time. */
async function consume(world: World, service: QueueService, queue: Queue): Promise<void> {
  const invoke = losingOneAnswer((event) => world.function('shipping').invoke(event));
  const options = { client: service.client, queue, invoke, batchSize: 1, maximumConcurrency: 1 };
  const mapping = startEventSourceMapping(options);
  for (let look = 0; look < 300 && (await service.depthOf(queue)) > 0; look += 1) await sleep(100);
  await mapping.stop();
}

/** The order is shipped and the outcome stored, but the poller never hears of the first one. */
function losingOneAnswer(invoke: (event: SQSEvent) => Promise<InvokeResult>): typeof invoke {
  let isLost = false;
  return async (event) => {
    const result = await invoke(event);
    if (isLost || result.kind !== 'response') return result;
    isLost = true;
    const { pid, milliseconds } = result;
    return { kind: 'exit', code: null, signal: null, pid, milliseconds };
  };
}

/** What the function's log says of its deliveries. It comes by another way than its answers, so it may be late. */
async function decisions(world: World, deliveries: number): Promise<Map<string, number>> {
  const words = { completed: 'done', replayed: 'replayed' } as const;
  for (let look = 0; ; look += 1) {
    const answers = new Map<string, number>();
    for (const line of world.lines) {
      const { type, operation } = eventOf(line);
      const word = operation === 'ship-order' ? words[type as keyof typeof words] : undefined;
      if (word !== undefined) answers.set(word, (answers.get(word) ?? 0) + 1);
    }
    const found = [...answers.values()].reduce((sum, count) => sum + count, 0);
    if (found >= deliveries || look === 100) return answers;
    await sleep(20);
  }
}

function eventOf(line: string): { type?: string; operation?: string } {
  return line.startsWith('{') ? (JSON.parse(line) as { type?: string; operation?: string }) : {};
}
