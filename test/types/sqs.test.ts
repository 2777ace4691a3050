import middy7 from '@middy/core';
import type {
  Context,
  DynamoDBRecord,
  DynamoDBStreamHandler,
  KinesisStreamHandler,
  KinesisStreamRecord,
  ScheduledEvent,
  ScheduledHandler,
  SQSBatchResponse,
  SQSEvent,
  SQSHandler,
  SQSRecord,
} from 'aws-lambda';
import middy6 from 'middy6-core';
import { expect, expectTypeOf, test } from 'vitest';
import {
  attributeKey,
  type BatchResponse,
  bodyKey,
  type Claim,
  claimOf,
  deduplicationKey,
  eventBridgeKey,
  idempotent,
  idempotentSqs,
  idempotentStream,
  imageKey,
  type LambdaContext,
  messageIdKey,
  type SqsRecordLike,
  scheduleKey,
  snsKey,
  sqsIdempotency,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';

// The compiler is the test (`npm run types`); at run time these only have to build.

const base = () => ({ store: memoryStore(), operation: 'ship' });

test('idempotentSqs is an SQS handler, alone and under Middy 6 and 7; its options are typed from the handler', () => {
  const ship = idempotentSqs(
    async (record: SQSRecord, _context: Context, claim) => {
      expectTypeOf(claim).toEqualTypeOf<Claim>();
      return { parcel: record.body };
    },
    {
      ...base(),
      key: (record) => {
        expectTypeOf(record).toEqualTypeOf<SQSRecord>();
        return record.body;
      },
      scope: (record, context) => {
        expectTypeOf(context).toEqualTypeOf<Context>();
        return record.awsRegion;
      },
      fingerprint: (record) => record.body,
      classify: (result) => {
        expectTypeOf(result).toEqualTypeOf<{ parcel: string }>();
        return 'complete';
      },
      onRecordFailure: (error, record) => {
        expectTypeOf(error).toBeUnknown();
        expectTypeOf(record).toEqualTypeOf<SQSRecord>();
      },
    },
  );
  ship satisfies SQSHandler;
  middy7(ship) satisfies SQSHandler;
  middy6(ship) satisfies SQSHandler;
  expectTypeOf(ship).returns.resolves.toEqualTypeOf<BatchResponse>();
  expectTypeOf<BatchResponse>().toExtend<SQSBatchResponse>();
});

test('an unannotated handler gets the parts that we read, and Lambda’s context', () => {
  idempotentSqs(
    async (record, context, claim) => {
      expectTypeOf(record).toEqualTypeOf<SqsRecordLike>();
      expectTypeOf(context).toEqualTypeOf<LambdaContext>();
      expectTypeOf(claim.key).toBeString();
    },
    { ...base(), key: bodyKey('id') },
  );
  expectTypeOf<SQSRecord>().toExtend<SqsRecordLike>();
});

test('the key is required, and a text', () => {
  const work = async (_record: SQSRecord): Promise<void> => {};
  const without = base();
  const [path, number] = [
    { ...base(), key: 'orderId' },
    { ...base(), key: (record: SQSRecord) => record.body.length },
  ];
  // @ts-expect-error the key is required
  expect(() => idempotentSqs(work, without)).toThrow('"key" is required');
  // @ts-expect-error the key is required
  expect(() => sqsIdempotency(without)).toThrow('"key" is required');
  // @ts-expect-error the key is required
  expect(() => idempotentStream(async (_record: DynamoDBRecord) => {}, without)).toThrow('"key" is required');
  // @ts-expect-error a path is no key function
  expect(() => idempotentSqs(work, path)).toThrow('"key" must be a function');
  // @ts-expect-error a key is a text
  idempotentSqs(work, number);
  // @ts-expect-error a bare number is no duration
  expect(() => idempotentSqs(work, { ...base(), key: bodyKey('a'), floor: 1000 })).toThrow('duration');
});

test('key functions need a path, and fit the records of their source only', () => {
  const sqs = async (_record: SQSRecord): Promise<void> => {};
  const keys = [
    bodyKey('a', 'b.c'),
    snsKey('a'),
    eventBridgeKey('a'),
    attributeKey('a'),
    deduplicationKey(),
    messageIdKey(),
  ];
  for (const key of keys) idempotentSqs(sqs, { ...base(), key });
  const image = { ...base(), key: imageKey('id') };
  // @ts-expect-error an SQS record has no image
  idempotentSqs(sqs, image);
  // @ts-expect-error nothing would be one bucket for all
  expect(() => bodyKey()).toThrow('bodyKey');
  // @ts-expect-error nothing would be one bucket for all
  expect(() => snsKey()).toThrow('snsKey');
  // @ts-expect-error nothing would be one bucket for all
  expect(() => eventBridgeKey()).toThrow('eventBridgeKey');
  // @ts-expect-error nothing would be one bucket for all
  expect(() => imageKey()).toThrow('imageKey');
});

test('idempotentStream is a handler of both kinds of stream', () => {
  const kinesis = idempotentStream(async (_record: KinesisStreamRecord, _context: Context) => {}, {
    ...base(),
    key: bodyKey('id'),
  });
  const dynamo = idempotentStream(async (_record: DynamoDBRecord, _context: Context) => {}, {
    ...base(),
    key: imageKey('id', 'version'),
  });
  kinesis satisfies KinesisStreamHandler;
  dynamo satisfies DynamoDBStreamHandler;
  middy7(kinesis) satisfies KinesisStreamHandler;
  middy6(dynamo) satisfies DynamoDBStreamHandler;
});

test('use(sqsIdempotency()) keeps the event, the result and the context of the chain', () => {
  const options = { ...base(), key: bodyKey('id') };
  middy7<SQSEvent, SQSBatchResponse, Error, Context>()
    .use(sqsIdempotency(options))
    .handler(async (event, context) => {
      expectTypeOf(event).toExtend<SQSEvent>();
      expectTypeOf(event.Records.map(({ receiptHandle }) => receiptHandle)).toEqualTypeOf<string[]>();
      for (const { awsRegion } of event.Records) expectTypeOf(awsRegion).toBeString();
      expectTypeOf(context).toExtend<Context>();
      expectTypeOf(claimOf(event.Records[0] as SQSRecord)).toEqualTypeOf<Claim>();
      return { batchItemFailures: [] };
    });
  middy6<SQSEvent, SQSBatchResponse, Error, Context>()
    .use(sqsIdempotency(options))
    .handler(async (event) => {
      expectTypeOf(event).toExtend<SQSEvent>();
      expectTypeOf(event.Records.map(({ receiptHandle }) => receiptHandle)).toEqualTypeOf<string[]>();
      return { batchItemFailures: [] };
    });
  middy7<SQSEvent, SQSBatchResponse, Error, Context>()
    .use(sqsIdempotency<SQSRecord, Context>(options))
    .handler(async (event) => {
      expectTypeOf(event).toExtend<SQSEvent>();
      return { batchItemFailures: [] };
    });
  middy7(async (_event: SQSEvent, _context: Context) => ({ batchItemFailures: [] })).use(
    sqsIdempotency(options),
  );
  middy6(async (_event: SQSEvent, _context: Context) => ({ batchItemFailures: [] })).use(
    sqsIdempotency(options),
  );
  sqsIdempotency<SQSRecord, Context>({
    ...options,
    scope: (record, context) => `${record.awsRegion}/${context.awsRequestId}`,
    onRecordFailure: (_error, record) => expectTypeOf(record).toEqualTypeOf<SQSRecord>(),
  });
});

test('scheduleKey fits idempotent, whose function is a handler of scheduled events', () => {
  const nightly = idempotent(async (_event: ScheduledEvent) => {}, { ...base(), key: scheduleKey });
  nightly satisfies ScheduledHandler;
});
