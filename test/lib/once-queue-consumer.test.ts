import { CfnParameter, Duration, type Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { describe, expect, test } from 'vitest';
import { OnceQueueConsumer, type OnceQueueConsumerProps, OnceTable } from '../../lib/index.ts';
import { allowed, freshStack, lambda, properties, seen, text } from './support.ts';

type Options = Omit<OnceQueueConsumerProps, 'handler'> & {
  /** Of the function. */
  readonly timeout?: Duration;
};

/** A consumer and its function. */
function made(options: (stack: Stack) => Options = () => ({})) {
  const stack = freshStack();
  const { timeout, ...props } = options(stack);
  const handler = lambda(stack, 'Handler', timeout === undefined ? {} : { timeout });
  return { stack, consumer: new OnceQueueConsumer(stack, 'Consumer', { handler, ...props }) };
}

const [queue, deadLetters] = ['ConsumerQueue', 'ConsumerDeadLetters'];
const resource = ({ stack }: ReturnType<typeof made>, type: string, id = ''): ReturnType<typeof properties> =>
  properties(stack, `AWS::${type}`, id);
const mapping = (consumer: ReturnType<typeof made>) => resource(consumer, 'Lambda::EventSourceMapping');

test.each<[string, Options]>([
  ['', {}],
  [' of a FIFO queue', { fifo: true }],
  [' of large batches', { batchSize: 100, maxBatchingWindow: Duration.seconds(5) }],
  [' of few at once', { maxConcurrency: 2 }],
])('Q05: the mapping%s reports batch item failures', (_, options) => {
  const consumer = made(() => options);
  expect(mapping(consumer).FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
  expect(text(mapping(consumer).EventSourceArn)).toBe('ConsumerQueue.Arn');
  expect(text(mapping(consumer).FunctionName)).toBe('Handler');
});

test('how batches are made is passed on', () => {
  const options = { batchSize: 500, maxBatchingWindow: Duration.seconds(20), maxConcurrency: 7 };
  expect(mapping(made(() => options))).toMatchObject({
    BatchSize: 500,
    MaximumBatchingWindowInSeconds: 20,
    ScalingConfig: { MaximumConcurrency: 7 },
  });
  expect(mapping(made()).BatchSize).toBe(10);
});

test('a message that never succeeds becomes a dead letter, after five deliveries unless told', () => {
  const redrive = (options: Options) =>
    resource(
      made(() => options),
      'SQS::Queue',
      queue,
    ).RedrivePolicy;
  expect(text(redrive({}).deadLetterTargetArn)).toBe('ConsumerDeadLetters.Arn');
  expect([redrive({}), redrive({ maxReceiveCount: 1 })]).toMatchObject([
    { maxReceiveCount: 5 },
    { maxReceiveCount: 1 },
  ]);
});

test('messages wait for four days, dead letters for two weeks, unless told', () => {
  const retentions = (options: Options) =>
    [queue, deadLetters].map(
      (id) =>
        resource(
          made(() => options),
          'SQS::Queue',
          id,
        ).MessageRetentionPeriod,
    );
  expect(retentions({})).toEqual([4 * 24 * 3600, 14 * 24 * 3600]);
  const told = { queueRetention: Duration.hours(1), deadLetterRetention: Duration.hours(2) };
  expect(retentions(told)).toEqual([3600, 7200]);
});

test('both queues are encrypted and reached over TLS only', () => {
  const consumer = made();
  for (const id of [queue, deadLetters]) {
    expect(resource(consumer, 'SQS::Queue', id).SqsManagedSseEnabled).toBe(true);
    const [statement] = resource(consumer, 'SQS::QueuePolicy', id).PolicyDocument.Statement;
    expect(statement).toMatchObject({
      Effect: 'Deny',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
  }
});

test('a key of one’s own encrypts both queues, and the function may decrypt with it', () => {
  const consumer = made((stack) => ({ encryptionKey: new Key(stack, 'Key') }));
  for (const id of [queue, deadLetters]) {
    const { KmsMasterKeyId, SqsManagedSseEnabled } = resource(consumer, 'SQS::Queue', id);
    expect([text(KmsMasterKeyId), SqsManagedSseEnabled]).toEqual(['Key.Arn', undefined]);
  }
  expect(allowed(consumer.stack, 'Handler')['Key.Arn']).toContain('kms:Decrypt');
});

test('a FIFO queue has FIFO dead letters', () => {
  const consumer = made(() => ({ fifo: true }));
  for (const id of [queue, deadLetters]) expect(resource(consumer, 'SQS::Queue', id).FifoQueue).toBe(true);
});

test('a table that is given is connected to the function', () => {
  const consumer = made((stack) => ({ table: new OnceTable(stack, 'Once') }));
  const { Variables } = resource(consumer, 'Lambda::Function').Environment;
  expect(text(Variables.LAMBDA_ONCE_TABLE)).toBe('OnceTable');
  expect(allowed(consumer.stack, 'Handler')['OnceTable.Arn']).toContain('dynamodb:PutItem');
  expect(resource(made(), 'Lambda::Function')).not.toHaveProperty('Environment');
});

describe('Q09: the visibility timeout', () => {
  const visibility = (options: (stack: Stack) => Options) =>
    resource(made(options), 'SQS::Queue', queue).VisibilityTimeout;
  const warned = (options: (stack: Stack) => Options) => warnings(made(options), 'visibilityTimeout is ');

  test('is six times the function’s, and the time in which a batch fills', () => {
    const timeout = Duration.seconds(10);
    expect(visibility(() => ({ timeout }))).toBe(60);
    expect(visibility(() => ({ timeout, maxBatchingWindow: Duration.seconds(5) }))).toBe(65);
  });

  test('is reckoned with Lambda’s three seconds where the function’s is not known', () => {
    const later = (stack: Stack) => new CfnParameter(stack, 'Timeout', { type: 'Number' }).valueAsNumber;
    expect(visibility(() => ({}))).toBe(18);
    expect(visibility((stack) => ({ timeout: Duration.seconds(later(stack)) }))).toBe(18);
  });

  test('is warned of where it is shorter, and not a second before', () => {
    const options = { timeout: Duration.seconds(12), maxBatchingWindow: Duration.seconds(5) };
    expect(warned(() => ({ ...options, visibilityTimeout: Duration.seconds(77) }))).toEqual([]);
    expect(warned(() => ({ ...options, visibilityTimeout: Duration.seconds(76) }))).toEqual([
      expect.stringMatching(
        /^visibilityTimeout is 1 minute 16 seconds; .* are 1 minute 17 seconds\. .* refused as busy/,
      ),
    ]);
    expect(warned(() => options)).toEqual([]);
  });

  test('is passed on as told', () => {
    expect(visibility(() => ({ visibilityTimeout: Duration.hours(1) }))).toBe(3600);
  });
});

describe('Q09: the retention of the operation', () => {
  const warned = (options: Options) =>
    warnings(
      made(() => options),
      'retention is ',
    );

  test('is warned of where a message may come after it, and not at the last second', () => {
    expect(warned({ retention: Duration.days(18) })).toEqual([]);
    expect(warned({ retention: Duration.seconds(18 * 24 * 3600 - 1) })).toEqual([
      expect.stringMatching(
        /a message may come 18 days after .*\(4 days in the queue, 14 days among the dead letters\)/,
      ),
    ]);
    expect(warned({})).toEqual([]);
  });

  test('is compared with the queues’ own', () => {
    const queues = { queueRetention: Duration.days(1), deadLetterRetention: Duration.days(2) };
    expect(warned({ ...queues, retention: Duration.days(3) })).toEqual([]);
    expect(warned({ ...queues, retention: Duration.days(2) })).toHaveLength(1);
  });
});

/** What is warned of at synth, of the warnings that begin like this. */
function warnings({ stack }: ReturnType<typeof made>, start: string): string[] {
  const found = Annotations.fromStack(stack).findWarning(
    '/Stack/Consumer',
    Match.stringLikeRegexp(`^${start}`),
  );
  return found.map(({ entry }) => entry.data as string);
}

test.each<[Options, string]>([
  [{ batchSize: 0 }, 'batchSize is 0; it takes whole numbers from 1 to 10000'],
  [{ batchSize: 10_001 }, 'batchSize is 10001; it takes whole numbers from 1 to 10000'],
  [{ fifo: true, batchSize: 11 }, 'batchSize is 11; it takes whole numbers from 1 to 10'],
  [{ maxReceiveCount: 0 }, 'maxReceiveCount is 0; it takes whole numbers from 1 to 1000'],
  [{ maxReceiveCount: 1001 }, 'maxReceiveCount is 1001; it takes whole numbers from 1 to 1000'],
  [{ maxReceiveCount: 2.5 }, 'maxReceiveCount is 2.5; it takes whole numbers from 1 to 1000'],
  [{ maxReceiveCount: Number.NaN }, 'maxReceiveCount is NaN; it takes whole numbers from 1 to 1000'],
  [
    { reportBatchItemFailures: false } as Options,
    'the option "reportBatchItemFailures" is not accepted: it takes',
  ],
])('%j is refused', (options, why) => {
  expect(() => made(() => options)).toThrow(`OnceQueueConsumer: ${why}`);
});

test('its metrics are of its two queues', () => {
  const { stack, consumer } = made();
  const [, visible, , ...ofDeadLetters] = seen(stack, consumer.metricDeadLetters());
  const [, age, , ...ofQueue] = seen(stack, consumer.metricOldestMessage());
  expect([visible, ...ofDeadLetters]).toEqual([
    'ApproximateNumberOfMessagesVisible',
    'QueueName',
    'ConsumerDeadLetters.QueueName',
  ]);
  expect([age, ...ofQueue]).toEqual([
    'ApproximateAgeOfOldestMessage',
    'QueueName',
    'ConsumerQueue.QueueName',
  ]);
});
