import { checkOptions, isFunction, isText } from '../domain/options.ts';
import type { Observer, OnceEvent } from '../engine/observe.ts';
import { metric } from '../names.ts';
import { emfLine } from './emf.ts';

/** Options of {@link emfMetrics}. */
export interface MetricsOptions {
  /** Name of the table, a dimension of each metric. Default: the environment variable `LAMBDA_ONCE_TABLE`. */
  readonly table?: string | undefined;
  /** Takes each line. Default: standard output, where Lambda's log has it. */
  readonly write?: ((line: string) => void) | undefined;
}

/**
 * An observer that makes CloudWatch metrics of decisions: `observe: emfMetrics()`. One line of the embedded metric format for each
 * decision, in the namespace `LambdaOnce`, by table and operation, and by table over all; no call is made. Lines hold the operation's
 * name, the record's id and a digest of the scope, never a key, a scope or a payload.
 *
 * @throws IdempotencyError `options`
 */
export function emfMetrics(options: MetricsOptions = {}): Observer {
  checkOptions('emfMetrics', options, { table: isText, write: isFunction });
  const { table, write = (line: string): void => console.log(line) } = options;
  return (event) => {
    const counted = countsOf(event);
    if (counted.length === 0) return;
    const { operation, type, ...facts } = event;
    const { error: _error, ...plain } = facts as typeof facts & { error?: unknown };
    const measured = Object.fromEntries(counted.map((name) => [name, 1]));
    write(emfLine(measured, Date.now(), { table, operation, type, ...plain }));
  };
}

/** The metrics that an event counts for. */
function countsOf(event: OnceEvent): string[] {
  switch (event.type) {
    case 'claimed':
      return [metric.claims];
    case 'completed':
      return [metric.completions];
    case 'not-kept':
      return [metric.completions, metric.notKept];
    case 'released':
      return [metric.releases];
    case 'held':
      return [metric.holds];
    case 'replayed':
      return [metric.replays];
    case 'refused':
      return [refusals[event.code] ?? metric.refusals];
    case 'bypassed':
      return [metric.bypasses];
    case 'lease-lost':
      return [metric.leasesLost];
    case 'store-failed': {
      const isCompletion = event.at === 'complete' || event.at === 'commit';
      return isCompletion ? [metric.storeFailures, metric.completionFailures] : [metric.storeFailures];
    }
    case 'waited':
    case 'performed':
    case 'reconciled':
      return [];
    default:
      return event satisfies never;
  }
}

const refusals: Readonly<Record<string, string>> = {
  busy: metric.busy,
  'key-reused': metric.mismatches,
  'in-doubt': metric.inDoubt,
};
