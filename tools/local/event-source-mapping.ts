import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteMessageBatchCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { type BatchAnswer, readBatchAnswer } from './batch-answer.ts';
import { MessageGroups } from './message-groups.ts';
import type { Queue } from './queue.ts';
import type { InvokeResult } from './result.ts';
import { toSqsRecord } from './sqs-record.ts';

/** What is polled, and who is called. */
export interface MappingOptions {
  readonly client: SQSClient;
  readonly queue: Queue;
  readonly invoke: (event: SQSEvent) => Promise<InvokeResult>;
  /** The most records in one batch: 1 to 10000; up to 10 on a FIFO queue or without a window. Default 10. */
  readonly batchSize?: number;
  /** Whole seconds to wait for a full batch, from its first record: 0 to 300; 0 on a FIFO queue. Default 0. */
  readonly batchWindow?: number;
  /** How many batches there are at once. Default 5. (Lambda's least is 2; 1 makes a story that can be told.) */
  readonly maximumConcurrency?: number;
  /** Whether the mapping has `ReportBatchItemFailures`. Default true. */
  readonly reportsItems?: boolean;
  /** Seconds of long polling: 0 to 20. Lambda waits 20; the default is 1, since `stop` waits for it. */
  readonly waitTime?: number;
  /** Hears how each batch ended, once what succeeded is deleted. */
  readonly onBatch?: (batch: BatchEnd) => void;
}

/** How a batch ended. */
export interface BatchEnd {
  readonly records: readonly SQSRecord[];
  readonly result: InvokeResult;
  readonly answer: BatchAnswer;
}

/** SQS hands out, and takes back, so many at a time. */
const mostPerCall = 10;

/**
 * Starts to poll a queue for a function as Lambda does. What succeeded is deleted; what failed is left alone and is seen
 * again when its visibility timeout is over. No two batches hold the same message group at once.
 *
 * Unlike Lambda it takes a queue whose visibility timeout is shorter than the function's, to show what happens then, and
 * does not count a batch's bytes.
 *
 * @throws RangeError for settings that Lambda refuses
 */
export function startEventSourceMapping(options: MappingOptions): EventSourceMapping {
  return new EventSourceMapping(options);
}

/** A running poller. */
export class EventSourceMapping {
  readonly #settings: Required<MappingOptions>;
  readonly #groups = new MessageGroups();
  readonly #pollers: Promise<unknown>;
  #stopping = false;

  constructor(options: MappingOptions) {
    const { batchSize = 10, batchWindow = 0, maximumConcurrency = 5, reportsItems = true } = options;
    const { waitTime = 1, onBatch = () => {} } = options;
    this.#settings = {
      ...options,
      batchSize,
      batchWindow,
      maximumConcurrency,
      reportsItems,
      waitTime,
      onBatch,
    };
    checkSettings(this.#settings);
    this.#pollers = Promise.all(Array.from({ length: maximumConcurrency }, () => this.#poll()));
    // a fault is told by `stop`
    this.#pollers.catch(() => undefined);
  }

  /**
   * Takes no further messages and waits until the batches that are out have ended. Rejects when the queue could not be
   * polled, or a callback threw: such a poller has ended before.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#pollers;
  }

  async #poll(): Promise<void> {
    while (!this.#stopping) {
      const records = await this.#collect();
      const groups = new Set(
        this.#isFifo ? records.flatMap(({ attributes }) => attributes.MessageGroupId ?? []) : [],
      );
      if (records.length > 0) await this.#groups.holding(groups, () => this.#deliver(records));
    }
  }

  get #isFifo(): boolean {
    return isFifo(this.#settings.queue);
  }

  /** A batch, or nothing when none came within the long poll. */
  async #collect(): Promise<SQSRecord[]> {
    const { batchSize, batchWindow, waitTime } = this.#settings;
    const records = await this.#receive(batchSize, waitTime);
    const closes = performance.now() + batchWindow * 1000;
    while (records.length > 0 && records.length < batchSize && !this.#stopping) {
      const left = closes - performance.now();
      if (left <= 0) break;
      const more = await this.#receive(batchSize - records.length, left >= 1000 ? 1 : 0);
      if (more.length === 0 && left < 1000) await sleep(Math.min(left, 50));
      records.push(...more);
    }
    return records;
  }

  async #receive(most: number, waitTime: number): Promise<SQSRecord[]> {
    const { client, queue } = this.#settings;
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queue.url,
        MaxNumberOfMessages: Math.min(most, mostPerCall),
        WaitTimeSeconds: waitTime,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
    );
    return Messages.map((message) => toSqsRecord(message, queue.arn));
  }

  async #deliver(records: readonly SQSRecord[]): Promise<void> {
    const { invoke, reportsItems, onBatch } = this.#settings;
    const result = await invoke({ Records: [...records] });
    const identifiers = new Set(records.map(({ messageId }) => messageId));
    const answer = readBatchAnswer(result, identifiers, reportsItems);
    if (answer.kind === 'reported') {
      await this.#delete(records.filter(({ messageId }) => !answer.failed.has(messageId)));
    }
    onBatch({ records, result, answer });
  }

  /** A receipt that ran out deletes nothing: then the message comes again. */
  async #delete(records: readonly SQSRecord[]): Promise<void> {
    const { client, queue } = this.#settings;
    for (let first = 0; first < records.length; first += mostPerCall) {
      const Entries = records
        .slice(first, first + mostPerCall)
        .map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
      await client.send(new DeleteMessageBatchCommand({ QueueUrl: queue.url, Entries }));
    }
  }
}

function isFifo(queue: Queue): boolean {
  return queue.arn.endsWith('.fifo');
}

function checkSettings(settings: Required<MappingOptions>): void {
  const { queue, batchSize, batchWindow, maximumConcurrency, waitTime } = settings;
  check('batchWindow', batchWindow, 0, isFifo(queue) ? 0 : 300);
  check('batchSize', batchSize, 1, batchWindow === 0 ? mostPerCall : 10_000);
  check('maximumConcurrency', maximumConcurrency, 1, 1000);
  check('waitTime', waitTime, 0, 20);
}

function check(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${name} must be a whole number from ${least} to ${most} here; got ${value}.`);
}
