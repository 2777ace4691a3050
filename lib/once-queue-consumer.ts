import { Annotations, Duration } from 'aws-cdk-lib';
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { OnceTable } from './once-table.ts';
import { checkProps, checkWhole } from './options.ts';

/** Options of {@link OnceQueueConsumer}. */
export interface OnceQueueConsumerProps {
  /** A function with `idempotentSqs`, or a Middy chain with `sqsIdempotency`. */
  readonly handler: LambdaFunction;
  /** Connected to the function. Left out where that is done elsewhere. */
  readonly table?: OnceTable;
  /** Default `false`. A FIFO queue keeps the order of each group. */
  readonly fifo?: boolean;
  /** Messages a batch: 1 to 10,000, FIFO to 10. Default 10. */
  readonly batchSize?: number;
  /** How long a batch may fill. Default: not at all. */
  readonly maxBatchingWindow?: Duration;
  /** How many batches run at once: 2 to 1,000. Default: as Lambda scales. */
  readonly maxConcurrency?: number;
  /** Deliveries before a message is a dead letter: 1 to 1,000. Default 5; busy duplicates count as deliveries, too. */
  readonly maxReceiveCount?: number;
  /** Default: six times the function's timeout and the batching window, as Lambda's guide says. */
  readonly visibilityTimeout?: Duration;
  /** How long a message waits to be consumed. Default 4 days. */
  readonly queueRetention?: Duration;
  /** How long a dead letter waits to be redriven. Default 14 days. */
  readonly deadLetterRetention?: Duration;
  /** The operation's `retention`, as the handler says it, to be checked against how late a message may come again. */
  readonly retention?: Duration;
  /** Encrypts both queues with your own key. Default: SQS's own. */
  readonly encryptionKey?: IKey;
}

const options = [
  'handler',
  'table',
  'fifo',
  'batchSize',
  'maxBatchingWindow',
  'maxConcurrency',
  'maxReceiveCount',
  'visibilityTimeout',
  'queueRetention',
  'deadLetterRetention',
  'retention',
  'encryptionKey',
];

/** What Lambda gives a function that does not say. */
const defaultTimeout: Duration = Duration.seconds(3);

/**
 * A queue, its dead-letter queue, and a mapping that always reports batch item failures: without that, a failed message is deleted
 * with its batch. Warns at synth where the clocks do not fit one another.
 */
export class OnceQueueConsumer extends Construct {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;

  constructor(scope: Construct, id: string, props: OnceQueueConsumerProps) {
    super(scope, id);
    checkProps('OnceQueueConsumer', props, options);
    const { handler, table, fifo = false, batchSize = 10, maxReceiveCount = 5, encryptionKey } = props;
    checkWhole('OnceQueueConsumer', 'batchSize', batchSize, 1, fifo ? 10 : 10_000);
    checkWhole('OnceQueueConsumer', 'maxReceiveCount', maxReceiveCount, 1, 1000);
    const { queueRetention = Duration.days(4), deadLetterRetention = Duration.days(14) } = props;
    const { maxBatchingWindow, maxConcurrency } = props;
    const neededVisibility = needed(handler, maxBatchingWindow);
    const visibilityTimeout = props.visibilityTimeout ?? neededVisibility;
    const encryption = encryptionKey === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS;
    const common = {
      encryption,
      enforceSSL: true,
      ...(encryptionKey !== undefined && { encryptionMasterKey: encryptionKey }),
      ...(fifo && { fifo }),
    };
    this.deadLetterQueue = new Queue(this, 'DeadLetters', {
      ...common,
      retentionPeriod: deadLetterRetention,
    });
    this.queue = new Queue(this, 'Queue', {
      ...common,
      visibilityTimeout,
      retentionPeriod: queueRetention,
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount },
    });
    handler.addEventSource(
      new SqsEventSource(this.queue, {
        batchSize,
        reportBatchItemFailures: true,
        ...(maxBatchingWindow !== undefined && { maxBatchingWindow }),
        ...(maxConcurrency !== undefined && { maxConcurrency }),
      }),
    );
    table?.connect(handler);
    this.#warnOfVisibility(visibilityTimeout, neededVisibility);
    this.#warnOfRetention(props.retention, queueRetention, deadLetterRetention);
  }

  metricDeadLetters(options?: MetricOptions): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible(options);
  }

  metricOldestMessage(options?: MetricOptions): Metric {
    return this.queue.metricApproximateAgeOfOldestMessage(options);
  }

  /** A message that comes again while its first delivery runs is refused as busy, and uses up its deliveries. */
  #warnOfVisibility(visibility: Duration, least: Duration): void {
    if (visibility.toSeconds() >= least.toSeconds()) return;
    Annotations.of(this).addWarningV2(
      'lambda-once:visibility-timeout',
      `visibilityTimeout is ${visibility.toHumanString()}; six times the function's timeout and the batching window are ` +
        `${least.toHumanString()}. Messages will come again while they are being processed, be refused as busy, and may become ` +
        'dead letters although they succeeded.',
    );
  }

  /** A message that comes after its record is forgotten is a stranger, and runs again. */
  #warnOfRetention(retention: Duration | undefined, queue: Duration, deadLetters: Duration): void {
    const latest = queue.toSeconds() + deadLetters.toSeconds();
    if (retention === undefined || retention.toSeconds() >= latest) return;
    Annotations.of(this).addWarningV2(
      'lambda-once:retention',
      `retention is ${retention.toHumanString()}; a message may come ${Duration.seconds(latest).toHumanString()} after it was ` +
        `sent (${queue.toHumanString()} in the queue, ${deadLetters.toHumanString()} among the dead letters) and would run again.`,
    );
  }
}

/** A token, such as a timeout out of a parameter, is not known at synth: then the default counts. */
function needed(
  { timeout = defaultTimeout }: LambdaFunction,
  window: Duration = Duration.seconds(0),
): Duration {
  const known = timeout.isUnresolved() ? defaultTimeout : timeout;
  return Duration.seconds(6 * known.toSeconds() + window.toSeconds());
}
