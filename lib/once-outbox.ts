import { Duration } from 'aws-cdk-lib';
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import { Grant } from 'aws-cdk-lib/aws-iam';
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type Function as LambdaFunction,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { attribute, companionPrefix, environment } from '../src/names.ts';
import { deadLettersOf } from './dead-letters.ts';
import type { OnceTable } from './once-table.ts';
import { checkDuration, checkProps } from './options.ts';
import { prebuiltFunction } from './prebuilt.ts';

/** Options of {@link OnceOutbox}. Exactly one of `to` and `relay` says where events go. */
export interface OnceOutboxProps {
  /** Made with `stream: true`, or an existing one whose `tableStreamArn` is known. */
  readonly table: OnceTable;
  /** A queue, a topic or an event bus: the prebuilt relay sends each event there. */
  readonly to?: IQueue | ITopic | IEventBus;
  /** What a bus is told as `source`. Default `lambda-once`. */
  readonly source?: string;
  /** Your own function with `outboxHandler`. */
  readonly relay?: LambdaFunction;
  /**
   * How long an event that cannot be sent is tried before its place in the stream goes to the dead-letter queue; what comes after it
   * waits. A minute to 24 hours, which is how long a stream remembers. Default 12 hours: a broker's bad night, and time left to look.
   */
  readonly maxRecordAge?: Duration;
  /** Of the prebuilt relay. Default one month. */
  readonly logRetention?: RetentionDays;
}

const options = ['table', 'to', 'source', 'relay', 'maxRecordAge', 'logRetention'];

/**
 * Relays what commits put into the outbox, at least once and in the order of each record. The function is woken for outbox items only,
 * not for claims. What could not be sent is still in the table until its item expires; the dead letter says where.
 */
export class OnceOutbox extends Construct {
  readonly relay: LambdaFunction;
  readonly deadLetterQueue: Queue;

  constructor(scope: Construct, id: string, props: OnceOutboxProps) {
    super(scope, id);
    checkProps('OnceOutbox', props, options);
    const { table, to, maxRecordAge = Duration.hours(12) } = props;
    checkDuration('OnceOutbox', 'maxRecordAge', maxRecordAge, Duration.minutes(1), Duration.hours(24));
    const { streamArn: eventSourceArn } = table;
    if (eventSourceArn === undefined) {
      throw new Error('OnceOutbox: the table has no stream; make it with `stream: true`.');
    }
    if ((to === undefined) === (props.relay === undefined)) {
      throw new Error(
        'OnceOutbox: give either `to` (a queue, a topic or a bus) or `relay` (your own function).',
      );
    }
    this.relay = props.relay ?? this.#prebuilt(props);
    this.deadLetterQueue = deadLettersOf(this, this.relay);
    if (to !== undefined) sendTo(this.relay, to, props.source);
    this.#readStream(table, eventSourceArn).applyBefore(
      new EventSourceMapping(this, 'Mapping', {
        target: this.relay,
        eventSourceArn,
        startingPosition: StartingPosition.TRIM_HORIZON,
        batchSize: 100,
        bisectBatchOnError: true,
        reportBatchItemFailures: true,
        maxRecordAge,
        onFailure: new SqsDlq(this.deadLetterQueue),
        filters: [onlyOutbox],
      }),
    );
  }

  /** Milliseconds that the oldest unsent event has waited. */
  metricIteratorAge(options?: MetricOptions): Metric {
    return this.relay.metric('IteratorAge', { statistic: 'Maximum', ...options });
  }

  metricDeadLetters(options?: MetricOptions): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible(options);
  }

  #prebuilt({ logRetention = RetentionDays.ONE_MONTH }: OnceOutboxProps): LambdaFunction {
    const description = 'lambda-once: relays the outbox';
    return prebuiltFunction(this, 'Relay', 'outbox', {
      description,
      timeout: Duration.minutes(1),
      logRetention,
    });
  }

  /** By hand, since the table's own grant would list the streams of all tables. */
  #readStream(table: OnceTable, streamArn: string): Grant {
    const grantee = this.relay;
    const read = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];
    table.table.encryptionKey?.grant(grantee, 'kms:Decrypt', 'kms:DescribeKey');
    return Grant.addToPrincipal({ grantee, actions: read, resourceArns: [streamArn] }).combine(
      Grant.addToPrincipal({
        grantee,
        actions: ['dynamodb:ListStreams'],
        resourceArns: [`${table.table.tableArn}/stream/*`],
      }),
    );
  }
}

/** Outbox items as they are put. A removal is the end of one that was relayed. */
const onlyOutbox = FilterCriteria.filter({
  eventName: FilterRule.isEqual('INSERT'),
  dynamodb: { Keys: { [attribute.id]: { S: FilterRule.beginsWith(companionPrefix.outbox) } } },
});

function sendTo(relay: LambdaFunction, to: IQueue | ITopic | IEventBus, source?: string): void {
  if ('queueArn' in to) {
    relay.addEnvironment(environment.outboxQueue, to.queueUrl);
    to.grantSendMessages(relay);
  } else if ('topicArn' in to) {
    relay.addEnvironment(environment.outboxTopic, to.topicArn);
    to.grantPublish(relay);
  } else {
    relay.addEnvironment(environment.outboxBus, to.eventBusName);
    if (source !== undefined) relay.addEnvironment(environment.outboxSource, source);
    to.grantPutEventsTo(relay);
  }
}
