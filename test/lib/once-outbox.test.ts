import { Duration, type Stack } from 'aws-cdk-lib';
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus, type IEventBus } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, inject, test } from 'vitest';
import { OnceOutbox, type OnceOutboxProps, OnceTable, type OnceTableProps } from '../../lib/index.ts';
import { idempotent } from '../../src/index.ts';
import { freshTable } from '../support/table.ts';
import { allowed, freshStack, lambda, properties, resources, seen, text } from './support.ts';

type Options = Omit<OnceOutboxProps, 'table'>;

/** An outbox to a queue, unless told. */
function made(
  options: (stack: Stack) => Options = queue,
  tableProps: (stack: Stack) => OnceTableProps = () => ({ stream: true }),
) {
  const stack = freshStack();
  const table = new OnceTable(stack, 'Once', tableProps(stack));
  return { stack, outbox: new OnceOutbox(stack, 'Outbox', { table, ...options(stack) }) };
}

/** The class says that its source's name may be `undefined`, the interface that it may be missing. */
const bus = (stack: Stack): IEventBus => new EventBus(stack, 'Bus') as IEventBus;
const mapping = 'AWS::Lambda::EventSourceMapping';
const readsStream = {
  'OnceTable.StreamArn': ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
  'OnceTable.Arn/stream/*': ['dynamodb:ListStreams'],
};

test('the relay reads the stream from its beginning, and a batch that fails in part is told record by record', () => {
  const source = properties(made().stack, mapping);
  expect(source).toMatchObject({
    StartingPosition: 'TRIM_HORIZON',
    BatchSize: 100,
    BisectBatchOnFunctionError: true,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    MaximumRecordAgeInSeconds: 12 * 3600,
  });
  expect(text(source.EventSourceArn)).toBe('OnceTable.StreamArn');
  expect(text(source.FunctionName)).toBe('OutboxRelay');
  expect(text(source.DestinationConfig.OnFailure.Destination)).toBe('OutboxDeadLetters.Arn');
});

describe('the relay is woken', () => {
  const filter = () => {
    const [only, ...others] = properties(made().stack, mapping).FilterCriteria.Filters;
    expect(others).toEqual([]);
    return JSON.parse(only.Pattern);
  };

  test('for outbox items as they are put, and for nothing else', () => {
    expect(filter()).toEqual({
      eventName: ['INSERT'],
      dynamodb: { Keys: { id: { S: [{ prefix: '#outbox#' }] } } },
    });
  });

  test.skipIf(!inject('engine').transactions)('once by all that a commit writes', async () => {
    const table = await freshTable();
    const commit = { unique: [['order', '7']], outbox: [{ type: 'paid', detail: {} }] };
    const pay = idempotent(async (_: object, claim) => claim.commit('paid', [], commit), {
      store: table.store(),
      operation: 'pay',
      key: () => 'a',
    });
    await pay({});
    const [{ prefix }] = filter().dynamodb.Keys.id.S;
    const items = await table.items();
    expect(items).toHaveLength(3);
    const woken = items.filter(({ id }) => id?.S?.startsWith(prefix));
    expect(woken.map((item) => item.events?.S)).toEqual([expect.stringContaining('paid')]);
  });
});

describe('it sends to', () => {
  const target = ({ stack }: ReturnType<typeof made>) => {
    const { Variables } = properties(stack, 'AWS::Lambda::Function').Environment;
    return Object.fromEntries(Object.entries(Variables).map(([name, value]) => [name, text(value)]));
  };

  test('a queue', () => {
    const outbox = made();
    expect(target(outbox)).toEqual({ LAMBDA_ONCE_OUTBOX_QUEUE: 'Queue' });
    expect(allowed(outbox.stack, 'OutboxRelay')).toEqual({
      ...readsStream,
      'Queue.Arn': ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage'],
      'OutboxDeadLetters.Arn': expect.arrayContaining(['sqs:SendMessage']),
    });
  });

  test('a topic', () => {
    const outbox = made((stack) => ({ to: new Topic(stack, 'Topic') }));
    expect(target(outbox)).toEqual({ LAMBDA_ONCE_OUTBOX_TOPIC: 'Topic' });
    expect(allowed(outbox.stack, 'OutboxRelay')).toMatchObject({ ...readsStream, Topic: ['sns:Publish'] });
  });

  test('a bus, in the name that it is told', () => {
    const outbox = made((stack) => ({ to: bus(stack), source: 'shop' }));
    expect(target(outbox)).toEqual({ LAMBDA_ONCE_OUTBOX_BUS: 'Bus', LAMBDA_ONCE_OUTBOX_SOURCE: 'shop' });
    const puts = { ...readsStream, 'Bus.Arn': ['events:PutEvents'] };
    expect(allowed(outbox.stack, 'OutboxRelay')).toMatchObject(puts);
    const unnamed = made((stack) => ({ to: bus(stack) }));
    expect(target(unnamed)).toEqual({ LAMBDA_ONCE_OUTBOX_BUS: 'Bus' });
  });
});

test('it may use the keys of the table and of the queue, where they have their own', () => {
  const key = (stack: Stack, id: string) => new Key(stack, id);
  const { stack } = made(
    (scope) => ({ to: new Queue(scope, 'Queue', { encryptionMasterKey: key(scope, 'QueueKey') }) }),
    (scope) => ({ stream: true, encryptionKey: key(scope, 'TableKey') }),
  );
  const relay = allowed(stack, 'OutboxRelay');
  expect(relay['TableKey.Arn']).toEqual(['kms:Decrypt', 'kms:DescribeKey']);
  expect(relay['QueueKey.Arn']).toContain('kms:GenerateDataKey*');
});

test('an existing table has its stream read by the ARN that is told', () => {
  const tableArn = 'arn:aws:dynamodb:eu-central-1:111122223333:table/theirs';
  const tableStreamArn = `${tableArn}/stream/2026-01-01T00:00:00.000`;
  const { stack } = made(undefined, (scope) => ({
    table: TableV2.fromTableAttributes(scope, 'Theirs', { tableArn, tableStreamArn }),
  }));
  expect(properties(stack, mapping).EventSourceArn).toBe(tableStreamArn);
  expect(allowed(stack, 'OutboxRelay')[tableStreamArn]).toEqual(readsStream['OnceTable.StreamArn']);
});

test('a relay of one’s own is used as it is', () => {
  const { stack, outbox } = made((scope) => ({ relay: lambda(scope, 'Own') }));
  expect(outbox.relay.node.id).toBe('Own');
  expect(Object.keys(resources(stack, 'AWS::Lambda::Function'))).toEqual(['Own']);
  expect(properties(stack, 'AWS::Lambda::Function')).not.toHaveProperty('Environment');
  expect(text(properties(stack, mapping).FunctionName)).toBe('Own');
  expect(allowed(stack, 'Own')).toEqual({
    ...readsStream,
    'OutboxDeadLetters.Arn': expect.arrayContaining(['sqs:SendMessage']),
  });
});

test('the age and the time of its log are passed on', () => {
  const { stack } = made((scope) => ({
    to: new Queue(scope, 'Queue'),
    maxRecordAge: Duration.hours(24),
    logRetention: RetentionDays.ONE_DAY,
  }));
  expect(properties(stack, mapping).MaximumRecordAgeInSeconds).toBe(24 * 3600);
  expect(properties(stack, 'AWS::Logs::LogGroup').RetentionInDays).toBe(1);
});

test.each<[string, (stack: Stack) => Options, OnceTableProps, string]>([
  ['a table without a stream', queue, {}, 'the table has no stream; make it with `stream: true`.'],
  ['nowhere to send to', () => ({}), { stream: true }, 'give either `to`'],
  [
    'a target and a relay',
    (stack) => ({ ...queue(stack), relay: lambda(stack) }),
    { stream: true },
    'give either `to`',
  ],
  [
    'an age of less than a minute',
    (stack) => ({ ...queue(stack), maxRecordAge: Duration.seconds(59) }),
    { stream: true },
    'maxRecordAge is 59 seconds; it takes 1 minute to 1 day.',
  ],
  [
    'an age that no stream has',
    (stack) => ({ ...queue(stack), maxRecordAge: Duration.hours(25) }),
    { stream: true },
    'maxRecordAge is 1 day 1 hour; it takes 1 minute to 1 day.',
  ],
  [
    'an unknown option',
    (stack) => ({ ...queue(stack), filter: [] }) as Options,
    { stream: true },
    'the option "filter" is not accepted',
  ],
])('%s: refused', (_, options, tableProps, why) => {
  expect(() => made(options, () => tableProps)).toThrow(`OnceOutbox: ${why}`);
});

function queue(stack: Stack): Options {
  return { to: new Queue(stack, 'Queue') };
}

test('its metrics are of its relay and of its dead letters', () => {
  const { stack, outbox } = made();
  expect(seen(stack, outbox.metricIteratorAge())).toEqual([
    'AWS/Lambda',
    'IteratorAge',
    'Maximum',
    'FunctionName',
    'OutboxRelay',
  ]);
  const [, name, , ...queueName] = seen(stack, outbox.metricDeadLetters());
  expect([name, ...queueName]).toEqual([
    'ApproximateNumberOfMessagesVisible',
    'QueueName',
    'OutboxDeadLetters.QueueName',
  ]);
});
