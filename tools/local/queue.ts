import type { AddressInfo } from 'node:net';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type QueueAttributeName,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { localClientConfig } from './engine.ts';

/** An SQS service on this machine. */
export interface QueueService {
  readonly client: SQSClient;
  /** A name that ends in `.fifo` makes a FIFO queue. */
  createQueue(name: string, options: QueueOptions): Promise<Queue>;
  /** How many messages are in a queue: visible, delayed or in somebody's hands. */
  depthOf(queue: Queue): Promise<number>;
  stop(): Promise<void>;
}

/** What a queue is known by. */
export interface Queue {
  readonly name: string;
  readonly url: string;
  readonly arn: string;
}

/** The attributes that matter here. */
export interface QueueOptions {
  /** Whole seconds, since SQS knows no less, until a message that was received and not deleted is seen again. */
  readonly visibility: number;
  /** Where a message goes that was received so often and is still there. */
  readonly deadLetter?: { readonly queue: Queue; readonly maxReceiveCount: number };
}

/** Starts fauxqs in this process. It listens on 127.0.0.1 only and keeps its messages in memory. */
export async function startQueues(): Promise<QueueService> {
  // not startFauxqs: that one listens on every interface
  const service = buildApp({ logger: false, defaultRegion: 'us-east-1' });
  await service.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.server.address() as AddressInfo;
  const client = new SQSClient(localClientConfig(`http://127.0.0.1:${port}`));
  const attributesOf = async (url: string, names: QueueAttributeName[]): Promise<Record<string, string>> => {
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: names });
    return (await client.send(command)).Attributes ?? {};
  };
  return {
    client,
    createQueue: async (name, options) => {
      const command = new CreateQueueCommand({ QueueName: name, Attributes: attributesFrom(name, options) });
      const { QueueUrl: url = '' } = await client.send(command);
      const { QueueArn: arn = '' } = await attributesOf(url, ['QueueArn']);
      return { name, url, arn };
    },
    depthOf: async ({ url }) => {
      const counts = await attributesOf(url, [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesDelayed',
        'ApproximateNumberOfMessagesNotVisible',
      ]);
      return Object.values(counts).reduce((sum, count) => sum + Number(count), 0);
    },
    stop: async () => {
      client.destroy();
      await service.close();
    },
  };
}

function attributesFrom(name: string, { visibility, deadLetter }: QueueOptions): Record<string, string> {
  return {
    VisibilityTimeout: String(visibility),
    ...(name.endsWith('.fifo') && { FifoQueue: 'true' }),
    ...(deadLetter !== undefined && {
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: deadLetter.queue.arn,
        maxReceiveCount: deadLetter.maxReceiveCount,
      }),
    }),
  };
}
