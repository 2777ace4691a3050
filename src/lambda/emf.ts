import { metric } from '../names.ts';

/** A value of a metric. Counts, unless it is a time. */
export type Measured = Readonly<Record<string, number>>;

/**
 * One line in CloudWatch's embedded metric format: CloudWatch makes metrics of it when it comes by in a function's log. With an
 * operation each metric is counted for it and over all.
 */
export function emfLine(
  measured: Measured,
  timestamp: number,
  facts: Readonly<Record<string, unknown>> = {},
): string {
  const isOfOperation = facts[metric.dimension] !== undefined;
  const Metrics = Object.keys(measured).map((Name) => ({
    Name,
    Unit: Name === metric.sweepOldestAge ? 'Milliseconds' : 'Count',
  }));
  const Dimensions = isOfOperation ? [[metric.dimension], []] : [[]];
  const CloudWatchMetrics = [{ Namespace: metric.namespace, Dimensions, Metrics }];
  return JSON.stringify({ ...facts, ...measured, _aws: { Timestamp: timestamp, CloudWatchMetrics } });
}
