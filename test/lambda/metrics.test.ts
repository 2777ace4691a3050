import { expect, test } from 'vitest';
import { idempotent } from '../../src/index.ts';
import { emfMetrics } from '../../src/metrics.ts';
import { metric } from '../../src/names.ts';
import { memoryStore } from '../../src/testing.ts';

interface Line {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
  readonly [member: string]: unknown;
}

/** An operation whose decisions become lines. */
function observed() {
  const lines: Line[] = [];
  const observe = emfMetrics({ write: (line) => lines.push(JSON.parse(line) as Line) });
  const pay = idempotent(async ({ id }: { id: string; amount: number }) => id, {
    store: memoryStore(),
    operation: 'pay',
    key: ({ id }) => id,
    observe,
  });
  const names = (): string[] =>
    lines.flatMap(({ _aws }) =>
      _aws.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name)),
    );
  return { pay, lines, names };
}

test('each decision is one line, counted by operation and over all, and tells nobody’s key', async () => {
  const { pay, lines, names } = observed();
  await pay({ id: 'ann@example.com', amount: 1 });
  await pay({ id: 'ann@example.com', amount: 1 });
  await expect(pay({ id: 'ann@example.com', amount: 2 })).rejects.toMatchObject({ code: 'key-reused' });
  expect(names()).toEqual([metric.claims, metric.completions, metric.replays, metric.mismatches]);
  for (const line of lines) {
    const [metrics] = line._aws.CloudWatchMetrics;
    expect(metrics).toMatchObject({ Namespace: metric.namespace, Dimensions: [['operation'], []] });
    expect(line.operation).toBe('pay');
    for (const { Name, Unit } of metrics?.Metrics ?? []) expect([line[Name], Unit]).toEqual([1, 'Count']);
  }
  expect(JSON.stringify(lines)).not.toContain('ann@');
});
