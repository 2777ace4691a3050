import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand, type SendMessageCommandInput } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { beforeAll, describe, expect, test } from 'vitest';
import { readBatchAnswer } from '../../tools/local/batch-answer.ts';
import {
  type EventSourceMapping,
  type MappingOptions,
  startEventSourceMapping,
} from '../../tools/local/event-source-mapping.ts';
import { type Queue, type QueueService, startQueues } from '../../tools/local/queue.ts';
import type { InvokeResult } from '../../tools/local/runtime-api.ts';

let service: QueueService;
const mappings: EventSourceMapping[] = [];
beforeAll(async () => {
  service = await startQueues();
  return async () => {
    const ends = await Promise.allSettled(mappings.map((running) => running.stop()));
    await service.stop();
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
  };
});

let queues = 0;
/** A queue of the test's own, with messages in it. */
async function queueWith(
  kind: 'standard' | 'fifo',
  messages: readonly Omit<SendMessageCommandInput, 'QueueUrl'>[],
  visibility = 1,
): Promise<Queue> {
  queues += 1;
  const name = `queue-${queues}${kind === 'fifo' ? '.fifo' : ''}`;
  const queue = await service.createQueue(name, { visibility });
  for (const message of messages) {
    const MessageDeduplicationId = crypto.randomUUID();
    const input = { QueueUrl: queue.url, ...message, ...(kind === 'fifo' && { MessageDeduplicationId }) };
    await service.client.send(new SendMessageCommand(input));
  }
  return queue;
}

/** A function that does what the test says with each batch. */
type Code = (records: readonly SQSRecord[]) => unknown;

function mapping(
  queue: Queue,
  code: Code,
  options: Partial<MappingOptions> = {},
): { drained(): Promise<void>; stop(): Promise<void> } {
  const invoke = async ({ Records }: SQSEvent): Promise<InvokeResult> =>
    response((await code(Records)) ?? null);
  const running = startEventSourceMapping({ client: service.client, queue, invoke, ...options });
  mappings.push(running);
  const drained = async (): Promise<void> => {
    while ((await service.depthOf(queue)) > 0) await sleep(10);
  };
  return { drained, stop: () => running.stop() };
}

function response(payload: unknown): InvokeResult {
  return { kind: 'response', payload, pid: 1, milliseconds: 1 };
}

const failing = (...identifiers: unknown[]): object => ({
  batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
});
const bodies = (records: readonly SQSRecord[]): string[] => records.map(({ body }) => body);

// most of the time they wait
describe.concurrent('a mapping', () => {
  test('a message becomes a record as Lambda hands it over', async () => {
    const MessageAttributes = {
      colour: { DataType: 'String', StringValue: 'red' },
      blob: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2, 255]) },
    };
    const queue = await queueWith('fifo', [{ MessageBody: 'b', MessageGroupId: 'g', MessageAttributes }], 30);
    const seen: SQSRecord[] = [];
    await mapping(queue, (records) => void seen.push(...records)).drained();
    const empty = { stringListValues: [], binaryListValues: [] };
    expect(seen).toEqual([
      {
        messageId: expect.stringMatching(/^[\da-f-]{36}$/),
        receiptHandle: expect.any(String),
        body: 'b',
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: expect.stringMatching(/^\d{13}$/),
          SenderId: expect.any(String),
          ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
          SequenceNumber: expect.any(String),
          MessageGroupId: 'g',
          MessageDeduplicationId: expect.any(String),
        },
        messageAttributes: {
          colour: { stringValue: 'red', dataType: 'String', ...empty },
          blob: { binaryValue: 'AQL/', dataType: 'Binary', ...empty },
        },
        md5OfBody: '92eb5ffee6ae2fec3ad71c777531578f',
        md5OfMessageAttributes: expect.any(String),
        eventSource: 'aws:sqs',
        eventSourceARN: queue.arn,
        awsRegion: 'us-east-1',
      },
    ]);
    expect(queue.arn).toMatch(/^arn:aws:sqs:us-east-1:\d{12}:queue-\d+\.fifo$/);
  });

  test('what succeeded is deleted; what failed is seen again when its visibility timeout is over, and not before', async () => {
    const queue = await queueWith('standard', [{ MessageBody: 'good' }, { MessageBody: 'bad' }]);
    const seen: { at: number; body: string; count: string }[] = [];
    const code: Code = (records) => {
      for (const { body, attributes } of records) {
        seen.push({ at: performance.now(), body, count: attributes.ApproximateReceiveCount });
      }
      const bad = records.find(
        ({ body, attributes }) => body === 'bad' && attributes.ApproximateReceiveCount === '1',
      );
      return bad === undefined ? null : failing(bad.messageId);
    };
    await mapping(queue, code).drained();
    expect(seen.map(({ body, count }) => [body, count])).toEqual([
      ['good', '1'],
      ['bad', '1'],
      ['bad', '2'],
    ]);
    expect((seen[2]?.at ?? 0) - (seen[1]?.at ?? 0)).toBeGreaterThan(900);
  });

  test('an error, and an answer that makes no sense, bring the whole batch again', async () => {
    const queue = await queueWith('standard', [{ MessageBody: 'a' }, { MessageBody: 'b' }]);
    const batches: string[][] = [];
    const answers: InvokeResult[] = [
      { kind: 'timeout', pid: 1, milliseconds: 1 },
      response(failing('somebody else')),
      response(null),
    ];
    const invoke = async ({ Records }: SQSEvent): Promise<InvokeResult> => {
      batches.push(bodies(Records));
      return answers[batches.length - 1] ?? response(null);
    };
    await mapping(queue, () => null, { invoke, maximumConcurrency: 1 }).drained();
    expect(batches).toEqual(Array(3).fill(['a', 'b']));
  });

  test('FIFO: a batch holds several groups, no two batches hold one, also when the visibility ran out in mid-work', async () => {
    const messages = [0, 1].flatMap((place) =>
      ['x', 'y', 'z'].map((group) => ({ MessageBody: `${group}${place}`, MessageGroupId: group })),
    );
    const queue = await queueWith('fifo', messages);
    const running = new Set<string>();
    const finished: string[] = [];
    let widest = 0;
    const code: Code = async (records) => {
      const groups = new Set(records.map(({ attributes }) => attributes.MessageGroupId ?? ''));
      widest = Math.max(widest, groups.size);
      for (const group of groups) {
        expect(running, 'groups in hand').not.toContain(group);
        running.add(group);
      }
      const isSlow = records.some(
        ({ body, attributes }) => body === 'x0' && attributes.ApproximateReceiveCount === '1',
      );
      await sleep(isSlow ? 1300 : 5);
      for (const group of groups) running.delete(group);
      finished.push(...bodies(records));
    };
    const consumer = mapping(queue, code);
    await consumer.drained();
    await consumer.stop();
    expect(widest).toBe(3);
    // the receipt of the first delivery had run out, so nothing was deleted by it
    expect(finished.filter((body) => body === 'x0').length).toBeGreaterThan(1);
    expect([...new Set(finished.filter((body) => body.startsWith('x')))]).toEqual(['x0', 'x1']);
  });

  test('there are never more batches at once than the maximum concurrency, and as many when there is work', async () => {
    const messages = Array.from({ length: 12 }, (_, index) => ({ MessageBody: String(index) }));
    const queue = await queueWith('standard', messages, 30);
    let [now, most] = [0, 0];
    const code: Code = async () => {
      now += 1;
      most = Math.max(most, now);
      await sleep(30);
      now -= 1;
    };
    await mapping(queue, code, { batchSize: 1, maximumConcurrency: 3 }).drained();
    expect(most).toBe(3);
  });

  test('a batch window fills a batch beyond what SQS hands out at a time', async () => {
    const messages = Array.from({ length: 25 }, (_, index) => ({ MessageBody: String(index) }));
    const queue = await queueWith('standard', messages, 30);
    const sizes: number[] = [];
    const options = { batchSize: 20, batchWindow: 1, maximumConcurrency: 1 };
    await mapping(queue, (records) => void sizes.push(records.length), options).drained();
    expect(sizes).toEqual([20, 5]);
  });

  test('stop drains: the batch in hand ends and is deleted, the next is not taken', async () => {
    const queue = await queueWith('standard', [{ MessageBody: 'first' }, { MessageBody: 'second' }], 30);
    const begun = Promise.withResolvers<void>();
    const ended: string[] = [];
    const code: Code = async (records) => {
      begun.resolve();
      await sleep(50);
      ended.push(...bodies(records));
    };
    const consumer = mapping(queue, code, { batchSize: 1, maximumConcurrency: 1 });
    await begun.promise;
    await consumer.stop();
    expect(ended).toEqual(['first']);
    expect(await service.depthOf(queue)).toBe(1);
  });
});

test.each([
  ['null', null, []],
  ['an empty object', {}, []],
  ['a null list', { batchItemFailures: null }, []],
  ['an empty list', failing(), []],
  ['a record', failing('one'), ['one']],
  ['a record twice', failing('one', 'one'), ['one']],
  ['an unknown identifier', failing('one', 'three'), 'whole-batch'],
  ['an empty identifier', failing(''), 'whole-batch'],
  ['a null identifier', failing(null), 'whole-batch'],
  ['another name', { batchItemFailures: [{ id: 'one' }] }, 'whole-batch'],
  ['a null item', { batchItemFailures: [null] }, 'whole-batch'],
  ['no list', { batchItemFailures: 'one' }, 'whole-batch'],
  ['another shape', { statusCode: 200 }, 'whole-batch'],
  ['a string', 'ok', 'whole-batch'],
  ['a list', ['one'], 'whole-batch'],
])('a response is read as Lambda reads it: %s', (_title, payload, failed) => {
  const answer = readBatchAnswer(response(payload), new Set(['one', 'two']), true);
  expect(answer.kind === 'reported' ? [...answer.failed] : answer.kind).toEqual(failed);
  expect(readBatchAnswer(response(payload), new Set(['one']), false).kind).toBe('reported');
});

test('a queue that cannot be polled is told by stop', async () => {
  const queue = { ...(await queueWith('standard', [])), url: 'http://127.0.0.1/000000000000/none' };
  const running = startEventSourceMapping({
    client: service.client,
    queue,
    invoke: async () => response(null),
  });
  await expect(running.stop()).rejects.toThrow(/queue/);
});

test.each([
  ['batchSize', 'standard', { batchSize: 11 }],
  ['batchSize', 'fifo', { batchSize: 11 }],
  ['batchWindow', 'fifo', { batchWindow: 1 }],
  ['batchWindow', 'standard', { batchWindow: 301 }],
  ['maximumConcurrency', 'standard', { maximumConcurrency: 0 }],
  ['waitTime', 'standard', { waitTime: 0.5 }],
] as const)('settings that Lambda refuses: %s on a %s queue, %o', async (name, kind, options) => {
  const queue = await queueWith(kind, []);
  const invoke = async (): Promise<InvokeResult> => response(null);
  expect(() => startEventSourceMapping({ client: service.client, queue, invoke, ...options })).toThrow(name);
});
