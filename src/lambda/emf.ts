import { environment, metric } from '../names.ts';

/** A value of a metric. Counts, unless it is a time or a size. */
export type Measured = Readonly<Record<string, number>>;

/** What a line is about. */
interface Facts {
  /** Default: the environment variable `LAMBDA_ONCE_TABLE`. */
  readonly table?: string | undefined;
  readonly operation?: string | undefined;
  readonly [fact: string]: unknown;
}

const units: Readonly<Record<string, string>> = {
  [metric.sweepOldestAge]: 'Milliseconds',
  [metric.tableBytes]: 'Bytes',
};

/**
 * One line in CloudWatch's embedded metric format: CloudWatch makes metrics of it when it comes by in a function's log. They count for
 * the table, so that two stages in one account do not ring each other's alarms; with an operation also for it alone.
 */
export function emfLine(measured: Measured, timestamp: number, facts: Facts = {}): string {
  const { table = process.env[environment.table], operation } = facts;
  const ofTable = table === undefined || table === '' ? [] : [metric.tableDimension];
  const Dimensions = operation === undefined ? [ofTable] : [[...ofTable, metric.operationDimension], ofTable];
  const Metrics = Object.keys(measured).map((Name) => ({ Name, Unit: units[Name] ?? 'Count' }));
  const CloudWatchMetrics = [{ Namespace: metric.namespace, Dimensions, Metrics }];
  return JSON.stringify({ ...facts, table, ...measured, _aws: { Timestamp: timestamp, CloudWatchMetrics } });
}
