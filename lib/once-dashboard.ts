import { Duration } from 'aws-cdk-lib';
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { metric } from '../src/names.ts';
import type { OnceOutbox } from './once-outbox.ts';
import type { OnceQueueConsumer } from './once-queue-consumer.ts';
import type { OnceSweeper } from './once-sweeper.ts';
import type { OnceTable } from './once-table.ts';
import { checkProps } from './options.ts';

/** Options of {@link OnceDashboard}. */
export interface OnceDashboardProps {
  readonly table: OnceTable;
  readonly sweeper?: OnceSweeper;
  readonly outbox?: OnceOutbox;
  readonly consumers?: readonly OnceQueueConsumer[];
  /** Log groups of the handlers: adds tables of replays by client and of the keys that are replayed most. */
  readonly logGroups?: readonly ILogGroup[];
  /** Default: CloudFormation chooses. */
  readonly dashboardName?: string;
}

/**
 * A Logs Insights query: replay rate by client and operation, the worst first. A client is told by a digest of its scope: 40 % and more
 * is a broken retry, 0 % with much traffic a new key for each attempt.
 */
export const replaysByClient: readonly string[] = [
  'fields client, operation',
  "filter type = 'claimed' or type = 'replayed'",
  `stats count(${metric.claims}) as claims, count(${metric.replays}) as replays, ` +
    `100 * count(${metric.replays}) / count(*) as percent by client, operation`,
  'sort percent desc',
  'limit 20',
];

/** A Logs Insights query: the records that were replayed most, by their ids. */
export const replaysByRecord: readonly string[] = [
  'fields id, operation',
  "filter type = 'replayed'",
  'stats count(*) as replays by id, operation',
  'sort replays desc',
  'limit 20',
];

/** What one looks at first when something is sent twice, or not at all. */
export class OnceDashboard extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, props: OnceDashboardProps) {
    super(scope, id);
    checkProps('OnceDashboard', props, [
      'table',
      'sweeper',
      'outbox',
      'consumers',
      'logGroups',
      'dashboardName',
    ]);
    const { table, sweeper, outbox, consumers = [], logGroups = [], dashboardName } = props;
    this.dashboard = new Dashboard(this, 'Dashboard', {
      defaultInterval: Duration.hours(12),
      ...(dashboardName !== undefined && { dashboardName }),
    });
    this.dashboard.addWidgets(
      new TextWidget({
        markdown: '# lambda-once\nAt most once, and what became of it.',
        width: 24,
        height: 2,
      }),
    );
    this.dashboard.addWidgets(...decisions(table));
    if (sweeper !== undefined) this.dashboard.addWidgets(...sweeps(sweeper));
    this.dashboard.addWidgets(...engine(table));
    const queues = [
      ...(outbox === undefined ? [] : [outbox.metricDeadLetters({ label: 'outbox' })]),
      ...consumers.map((consumer) => consumer.metricDeadLetters({ label: consumer.node.id })),
    ];
    if (queues.length > 0) this.dashboard.addWidgets(graph('Dead letters', queues, 24));
    if (logGroups.length > 0) this.dashboard.addWidgets(...queries(logGroups));
  }
}

function decisions(table: OnceTable): IWidget[] {
  const refusals = [table.metricBusy(), table.metricMismatches(), table.metricInDoubt()];
  const failures = [table.metricStoreFailures(), table.metricCompletionFailures(), table.metricLeasesLost()];
  return [
    graph('Ran and replayed', [table.metricClaims(), table.metricCompletions(), table.metricReplays()]),
    graph('Replays (%)', [table.metricReplayRate()]),
    graph('Refused', refusals),
    graph('Failures', failures),
  ];
}

function sweeps(sweeper: OnceSweeper): IWidget[] {
  const settled = [metric.sweepCompleted, metric.sweepReleased, metric.sweepSettling].map((name) =>
    sweeper.metric(name, { statistic: 'Sum' }),
  );
  return [
    graph('In doubt', [sweeper.metricInDoubt()]),
    graph('Oldest open (ms)', [sweeper.metricOldestAge()]),
    graph('Settled', settled),
    graph('Sweeper', [sweeper.metricInvocations(), sweeper.metricErrors(), sweeper.metricTruncated()]),
  ];
}

function engine({ table }: OnceTable): IWidget[] {
  const units = [table.metricConsumedWriteCapacityUnits(), table.metricConsumedReadCapacityUnits()];
  const latency = ['PutItem', 'UpdateItem', 'GetItem', 'TransactWriteItems'].map((operation) =>
    table.metricSuccessfulRequestLatency({
      dimensionsMap: { TableName: table.tableName, Operation: operation },
      statistic: 'p99',
      label: operation,
    }),
  );
  return [graph('Capacity units', units, 12), graph('Latency of DynamoDB, p99 (ms)', latency, 12)];
}

function queries(logGroups: readonly ILogGroup[]): IWidget[] {
  const table = (title: string, queryLines: readonly string[]): IWidget =>
    new LogQueryWidget({
      title,
      logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
      queryLines: [...queryLines],
      view: LogQueryVisualizationType.TABLE,
      width: 12,
    });
  return [table('Replays by client', replaysByClient), table('Replayed most', replaysByRecord)];
}

function graph(title: string, left: IMetric[], width = 6): IWidget {
  return new GraphWidget({ title, left, width });
}
