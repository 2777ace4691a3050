import type { Context, DynamoDBRecord, SQSEvent, SQSRecord } from 'aws-lambda';
import { expect, test } from 'vitest';
import { message } from '../adapters/batch/support.ts';
import { contextWith } from '../support/http.ts';
import { deploy, outside } from './support.ts';

const context = (): Context => contextWith() as Context;
const order = (messageId: string, orderId: string): SQSRecord => message(messageId, { orderId }) as SQSRecord;
const queue = (...Records: SQSRecord[]): SQSEvent => ({ Records });

test('examples/sqs.ts: each order is one parcel; what the carrier refuses comes again under the same key', async () => {
  const table = await deploy();
  const { sent, repair } = outside('"o2"');
  const { handler } = await import('../../examples/sqs.ts');
  const batch = queue(order('m1', 'o1'), order('m2', 'o2'), order('m3', 'o1'));
  expect(await handler(batch, context())).toEqual({ batchItemFailures: [{ itemIdentifier: 'm2' }] });
  repair();
  expect(await handler(queue(order('m9', 'o2'), order('m8', 'o1')), context())).toEqual({
    batchItemFailures: [],
  });
  expect(sent.map(({ body }) => body)).toEqual([{ orderId: 'o1' }, { orderId: 'o2' }]);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(2);
  const days = (await table.records()).map(({ expiresAt }) => (expiresAt * 1000 - Date.now()) / 86_400_000);
  for (const left of days) expect(left).toBeCloseTo(30, 1);
});

test('examples/sqs-middy.ts: Powertools’ processor behind sqsIdempotency', async () => {
  await deploy();
  const { sent, repair } = outside('"o2"');
  const { handler } = await import('../../examples/sqs-middy.ts');
  const batch = queue(order('m1', 'o1'), order('m2', 'o2'), order('m3', 'o1'));
  expect(await handler(batch, context())).toEqual({ batchItemFailures: [{ itemIdentifier: 'm2' }] });
  await expect(handler(queue(order('m2', 'o2')), context())).rejects.toThrow('All records failed');
  repair();
  expect(await handler(batch, context())).toEqual({ batchItemFailures: [] });
  expect(await handler(batch, context()), 'all were done before').toEqual({ batchItemFailures: [] });
  expect(sent.map(({ body }) => body)).toEqual([{ orderId: 'o1' }, { orderId: 'o2' }]);
});

test('examples/stream.ts: each version once, from the lowest that failed', async () => {
  await deploy();
  const { sent, repair } = outside('tea');
  const { handler } = await import('../../examples/stream.ts');
  const version = (SequenceNumber: string, id: string, number: string, name: string): DynamoDBRecord => ({
    eventName: 'MODIFY',
    dynamodb: {
      SequenceNumber,
      Keys: { id: { S: id } },
      NewImage: { id: { S: id }, version: { N: number }, name: { S: name } },
    },
  });
  const shard = [
    version('1', 'p1', '1', 'cup'),
    version('2', 'p2', '1', 'tea'),
    version('3', 'p1', '2', 'mug'),
  ];
  expect(await handler({ Records: shard }, context())).toEqual({
    batchItemFailures: [{ itemIdentifier: '2' }],
  });
  repair();
  expect(await handler({ Records: shard.slice(1) }, context())).toEqual({ batchItemFailures: [] });
  expect(sent.map(({ body }) => body)).toEqual([
    { id: 'p1', name: 'cup' },
    { id: 'p1', name: 'mug' },
    { id: 'p2', name: 'tea' },
  ]);
});
