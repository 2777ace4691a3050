import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { metric } from '../src/names.ts';

/** Options of a metric that the runtime emits. */
export interface OnceMetricOptions extends MetricOptions {
  /** Of one operation only. Default: over all operations of the table. */
  readonly operation?: string;
}

/** A metric as `emfMetrics` and the sweeper emit it: same namespace, same dimensions. A sum over five minutes, unless told. */
export function onceMetric(tableName: string, metricName: string, options: OnceMetricOptions = {}): Metric {
  const { operation, ...rest } = options;
  return new Metric({
    namespace: metric.namespace,
    metricName,
    dimensionsMap: {
      [metric.tableDimension]: tableName,
      ...(operation !== undefined && { [metric.operationDimension]: operation }),
    },
    statistic: 'Sum',
    period: Duration.minutes(5),
    ...rest,
  });
}

/** Of all deliveries that were served, how many percent were replays. Nothing while there are none. */
export function replayRate(tableName: string, options: OnceMetricOptions = {}): MathExpression {
  const { period = Duration.minutes(5) } = options;
  const usingMetrics = {
    claims: onceMetric(tableName, metric.claims, options),
    replays: onceMetric(tableName, metric.replays, options),
  };
  return new MathExpression({
    expression: '100 * FILL(replays, 0) / (FILL(claims, 0) + FILL(replays, 0))',
    usingMetrics,
    label: 'replays (%)',
    period,
  });
}
