import { Annotations, Duration } from 'aws-cdk-lib';
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnFunction, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { metric } from '../src/names.ts';
import { deadLettersOf } from './dead-letters.ts';
import { onceMetric } from './metrics.ts';
import type { OnceTable } from './once-table.ts';
import { checkDuration, checkProps } from './options.ts';
import { prebuiltFunction } from './prebuilt.ts';

/** Options of {@link OnceSweeper}. */
export interface OnceSweeperProps {
  readonly table: OnceTable;
  /**
   * Your own function with `sweepHandler`, your effects and your operations' `reconcile`. Default: a prebuilt one that knows none: it
   * frees what `onLapse: 'rerun'` allows, reports what is in doubt, and keeps that from expiring.
   */
  readonly handler?: LambdaFunction;
  /**
   * How often: whole minutes, from one to a day. Default one minute: what a crash left is found within a minute of its lease, for
   * eight small queries.
   */
  readonly every?: Duration;
  /** Of the prebuilt function. Default one month. */
  readonly logRetention?: RetentionDays;
  /**
   * Reserves a concurrency of one, so that passes never overlap. Default `true`. `false` for accounts whose limit leaves nothing to
   * reserve (new ones have 10): two passes at once do no harm, each write is conditional.
   */
  readonly reserveConcurrency?: boolean;
}

/** Of a pass over what is due: in a function of its own a minute is plenty, and the next pass goes on where it stopped. */
const timeout: Duration = Duration.seconds(50);

/**
 * The sweeper on a schedule. A pass that fails is tried once more, and what fails for good lands in the dead-letter queue, be it that
 * the schedule could not start it or that it threw; the next pass does the work in any case.
 */
export class OnceSweeper extends Construct {
  readonly handler: LambdaFunction;
  readonly every: Duration;
  readonly deadLetterQueue: Queue;
  readonly schedule: Schedule;
  readonly #table: OnceTable;

  constructor(scope: Construct, id: string, props: OnceSweeperProps) {
    super(scope, id);
    checkProps('OnceSweeper', props, ['table', 'handler', 'every', 'logRetention', 'reserveConcurrency']);
    const { table, every = Duration.minutes(1), reserveConcurrency = true } = props;
    checkDuration('OnceSweeper', 'every', every, Duration.minutes(1), Duration.days(1));
    this.#table = table;
    this.every = every;
    this.handler = props.handler ?? this.#prebuilt(props);
    this.deadLetterQueue = deadLettersOf(this, this.handler);
    if (reserveConcurrency) reserveOne(this.handler);
    table.connect(this.handler, 'sweep');
    this.#retryOnce();
    this.schedule = new Schedule(this, 'Schedule', {
      description: `Sweeps the lambda-once table every ${every.toHumanString()}.`,
      schedule: ScheduleExpression.rate(every),
      target: new LambdaInvoke(this.handler, {
        deadLetterQueue: this.deadLetterQueue,
        retryAttempts: 1,
        maxEventAge: every,
      }),
    });
  }

  /** A metric of the sweeper's report, such as `SweepSettling`. */
  metric(name: string, options?: MetricOptions): Metric {
    return onceMetric(this.#table.tableName, name, { statistic: 'Maximum', ...options });
  }

  /** Records that nobody could settle, in the fullest pass. Zero, not nothing, when there are none. */
  metricInDoubt(options?: MetricOptions): Metric {
    return this.metric(metric.sweepInDoubt, options);
  }

  /** Milliseconds since the oldest of what is open was claimed. */
  metricOldestAge(options?: MetricOptions): Metric {
    return this.metric(metric.sweepOldestAge, options);
  }

  /** Records that a pass could not look at since the store failed. */
  metricFailed(options?: MetricOptions): Metric {
    return this.metric(metric.sweepFailed, options);
  }

  /** 1 where a pass ran out of time. */
  metricTruncated(options?: MetricOptions): Metric {
    return this.metric(metric.sweepTruncated, options);
  }

  /** Items in the table, as DynamoDB counted them within the last six hours. */
  metricTableItems(options?: MetricOptions): Metric {
    return this.metric(metric.tableItems, options);
  }

  metricErrors(options?: MetricOptions): Metric {
    return this.handler.metricErrors(options);
  }

  metricInvocations(options?: MetricOptions): Metric {
    return this.handler.metricInvocations(options);
  }

  #prebuilt({ logRetention = RetentionDays.ONE_MONTH }: OnceSweeperProps): LambdaFunction {
    const description = 'lambda-once: reports and settles what crashes left';
    return prebuiltFunction(this, 'Handler', 'sweeper', { description, timeout, logRetention });
  }

  /** The schedule invokes asynchronously, so a pass that throws is Lambda's to retry. What the user has configured stays. */
  #retryOnce(): void {
    if (this.handler.node.tryFindChild('EventInvokeConfig') !== undefined) return;
    this.handler.configureAsyncInvoke({
      retryAttempts: 1,
      maxEventAge: waitAtMost(this.every),
      onFailure: new SqsDestination(this.deadLetterQueue),
    });
  }
}

/** Also on the user's own function, unless they reserved something themselves. */
function reserveOne(fn: LambdaFunction): void {
  const resource = fn.node.defaultChild;
  if (!(resource instanceof CfnFunction)) {
    Annotations.of(fn).addWarningV2(
      'lambda-once:sweeper-concurrency',
      'The sweeper runs on an imported function: reserve a concurrency of one for it yourself.',
    );
    return;
  }
  resource.reservedConcurrentExecutions ??= 1;
}

/** A pass that has to wait for the one before it need not be given up at once; Lambda remembers it for six hours at the most. */
function waitAtMost(every: Duration): Duration {
  const seconds = Math.max(Duration.minutes(5).toSeconds(), every.toSeconds());
  return Duration.seconds(Math.min(seconds, Duration.hours(6).toSeconds()));
}
