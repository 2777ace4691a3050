import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Operation } from 'aws-cdk-lib/aws-dynamodb';
import type { OnceOutbox } from './once-outbox.ts';
import type { OnceQueueConsumer } from './once-queue-consumer.ts';
import type { OnceSweeper } from './once-sweeper.ts';
import type { OnceTable } from './once-table.ts';

/** One alarm: what is looked at, when it rings, what that means, and what to do. */
export interface AlarmRule {
  /** Its construct id, and the heading of its runbook in docs/alarms.md. */
  readonly id: string;
  readonly metric: IMetric;
  /** Rings at this value and above; with `below`, only under it. */
  readonly threshold: number;
  readonly below?: true;
  /** Periods in a row. Default 1. */
  readonly periods?: number;
  /** Rings as long as one of so many periods was over the threshold, in place of all of them. */
  readonly oneOf?: number;
  /** Silence is what it looks for, so missing data rings. Everywhere else it does not. */
  readonly missingRings?: true;
  /** Made by metric math, which local emulators do not know. */
  readonly math?: true;
  readonly means: string;
  readonly todo: string;
}

/** When alarms ring. */
export interface Thresholds {
  readonly oldestAge: Duration;
  readonly mismatches: number;
  readonly replayRate: number;
  readonly traffic: number;
  readonly expectedItems: number | undefined;
}

const quarter: Duration = Duration.minutes(15);

/** Between two looks at one record: the sweeper's own limit. */
const longestPause: Duration = quarter;

/** What handlers tell of themselves. */
export function runtimeRules(table: OnceTable, { mismatches }: Thresholds): AlarmRule[] {
  const period = quarter;
  return [
    {
      id: 'CompletionFailures',
      metric: table.metricCompletionFailures({ period }),
      threshold: 1,
      means:
        'A handler ran, but its outcome could not be stored: its duplicates will find a claim that lapses.',
      todo: 'See why the table could not be written (StoreFailures); the sweeper or a person settles what is left.',
    },
    {
      id: 'LeasesLost',
      metric: table.metricLeasesLost({ period }),
      threshold: 1,
      means: 'An attempt outlived its lease and was replaced while it was still working.',
      todo: 'Give the operation a longer `lease`, or its function a shorter timeout; check for frozen environments.',
    },
    {
      id: 'Mismatches',
      metric: table.metricMismatches({ period }),
      threshold: mismatches,
      means: 'A client sends one key with different requests.',
      todo: 'Find the client by the logs; either it reuses keys, or the fingerprint takes in what changes between retries.',
    },
    {
      id: 'StoreFailures',
      metric: table.metricStoreFailures({ period: Duration.minutes(5) }),
      threshold: 5,
      means: 'The table cannot be read or written; requests are refused with 503.',
      todo: 'The message in the log says why: access, throttling, network, or a table that is not there.',
    },
  ];
}

/** What DynamoDB says of the calls that the runtime makes. */
export function tableRules({ table }: OnceTable): AlarmRule[] {
  const operations = [
    Operation.GET_ITEM,
    Operation.PUT_ITEM,
    Operation.UPDATE_ITEM,
    Operation.QUERY,
    Operation.TRANSACT_WRITE_ITEMS,
  ];
  const options = { operations, period: Duration.minutes(5) };
  return [
    {
      id: 'Throttles',
      metric: table.metricThrottledRequestsForOperations(options),
      threshold: 1,
      periods: 3,
      math: true,
      means: 'DynamoDB throttles the table.',
      todo: 'On demand doubles within half an hour: wait, or set `warmThroughput`. If it goes on, look for one hot key.',
    },
    {
      id: 'SystemErrors',
      metric: table.metricSystemErrorsForOperations(options),
      threshold: 1,
      periods: 3,
      math: true,
      means: 'DynamoDB fails inside.',
      todo: 'Nothing to mend here: requests are refused and retried. Watch the AWS Health Dashboard.',
    },
  ];
}

/** How clients retry, by the hour and by the day. */
export function replayRules(table: OnceTable, { replayRate, traffic }: Thresholds): AlarmRule[] {
  const served = (period: Duration): Record<string, IMetric> => ({
    claims: table.metricClaims({ period }),
    replays: table.metricReplays({ period }),
  });
  const hour = Duration.hours(1);
  const day = Duration.days(1);
  return [
    {
      id: 'ReplayRateHigh',
      metric: new MathExpression({
        expression: `IF(claims + replays >= ${traffic}, 100 * replays / (claims + replays), 0)`,
        usingMetrics: served(hour),
        label: 'replays (%)',
        period: hour,
      }),
      threshold: replayRate,
      periods: 3,
      math: true,
      means: `For three hours ${replayRate} % or more of the deliveries were replays: somebody retries what has succeeded.`,
      todo: 'Find the client by the query of the dashboard; look for time-outs that are too short and retries that ignore answers.',
    },
    {
      id: 'ReplayRateZero',
      metric: new MathExpression({
        expression: `IF(FILL(claims, 0) >= ${traffic}, FILL(replays, 0), 1)`,
        usingMetrics: served(day),
        label: 'replays',
        period: day,
      }),
      threshold: 1,
      below: true,
      math: true,
      means: 'In a day of traffic not one duplicate: clients probably make a new key for each attempt.',
      todo: 'Ask where the key is made: it has to be made once, before the first attempt, and kept for the retries.',
    },
  ];
}

/** What the sweeper finds, and whether it runs at all. */
export function sweeperRules(sweeper: OnceSweeper, thresholds: Thresholds): AlarmRule[] {
  const { oldestAge, expectedItems } = thresholds;
  const period = Duration.seconds(Math.max(sweeper.every.toSeconds(), Duration.minutes(5).toSeconds()));
  // what stays in doubt is looked at ever more seldom: without this the alarm would end between two looks
  const oneOf = 1 + Math.ceil((longestPause.toSeconds() + sweeper.every.toSeconds()) / period.toSeconds());
  const rules: AlarmRule[] = [
    {
      id: 'InDoubt',
      metric: sweeper.metricInDoubt({ period }),
      threshold: 1,
      oneOf,
      means:
        'Claims ended without a word and nobody could be asked: duplicates are held until somebody decides.',
      todo: 'The log of the sweeper lists them. Ask downstream what happened, then `resolve` each.',
    },
    {
      id: 'OldestAge',
      metric: sweeper.metricOldestAge({ period }),
      threshold: oldestAge.toMilliseconds(),
      oneOf,
      means: `Something has been open for ${oldestAge.toHumanString()} or longer.`,
      todo: 'Settle it by hand: the provider does not answer, or its effect is missing in the sweeper.',
    },
    {
      id: 'SweeperErrors',
      metric: sweeper.metricErrors({ period }),
      threshold: 1,
      means: 'The sweeper threw: what is due could not be listed, or its own code fails.',
      todo: 'Read its log; what stays stuck meanwhile is safe, but nobody settles it.',
    },
    {
      id: 'SweeperFailed',
      metric: sweeper.metricFailed({ period }),
      threshold: 1,
      periods: 3,
      means: 'The sweeper could not look at some records, three times in a row.',
      todo: 'See StoreFailures; a single record that always fails is told by its id in the log.',
    },
    {
      id: 'SweeperBehind',
      metric: sweeper.metricTruncated({ period }),
      threshold: 1,
      periods: 3,
      means: 'The sweeper runs out of time: more becomes due than it settles.',
      todo: 'Give it more time or `concurrency`, and find out what crashes so often.',
    },
    {
      id: 'SweeperSilent',
      metric: sweeper.metricInvocations({ period }),
      threshold: 1,
      below: true,
      periods: 3,
      missingRings: true,
      means: 'The sweeper does not run: nothing settles what crashes leave.',
      todo: 'Look at the schedule, its role, its dead-letter queue and the function’s concurrency.',
    },
  ];
  if (expectedItems !== undefined) {
    rules.push({
      id: 'TableSize',
      metric: sweeper.metricTableItems({ period: Duration.hours(1) }),
      threshold: Math.ceil(1.5 * expectedItems),
      means: `The table holds half as much again as the ${expectedItems} items expected.`,
      todo: 'Is TTL on? Did the traffic or a retention grow? Are clients making keys without end?',
    });
  }
  return rules;
}

/** What is on its way out, or stuck there. */
export function outboxRules(outbox: OnceOutbox): AlarmRule[] {
  return [
    {
      id: 'OutboxLate',
      metric: outbox.metricIteratorAge({ period: Duration.minutes(5) }),
      threshold: quarter.toMilliseconds(),
      means: 'An event has been waiting to be relayed for 15 minutes; those behind it wait as well.',
      todo: 'Read the relay’s log. The stream forgets after 24 hours; the items stay in the table longer.',
    },
    {
      id: 'OutboxDeadLetters',
      metric: outbox.metricDeadLetters({ period: Duration.minutes(5), statistic: 'Maximum' }),
      threshold: 1,
      means: 'An event was given up.',
      todo: 'Mend the broker, then send again from the items in the table: consumers dedupe.',
    },
  ];
}

export function consumerRules(consumer: OnceQueueConsumer, index: number): AlarmRule[] {
  return [
    {
      id: index === 0 ? 'DeadLetters' : `DeadLetters${index + 1}`,
      metric: consumer.metricDeadLetters({ period: Duration.minutes(5), statistic: 'Maximum' }),
      threshold: 1,
      means: 'A message was delivered as often as it may be and never succeeded.',
      todo: 'Mend the cause, then redrive within the retention: what had succeeded is not done again.',
    },
  ];
}
