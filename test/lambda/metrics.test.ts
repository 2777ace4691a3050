import { expect, test, vi } from 'vitest';
import { idempotent } from '../../src/index.ts';
import { emfMetrics, type MetricsOptions } from '../../src/metrics.ts';
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
function observed(options: MetricsOptions = {}) {
  const lines: Line[] = [];
  const observe = emfMetrics({ ...options, write: (line) => lines.push(JSON.parse(line) as Line) });
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

test('C05: with a table the metrics count for it, by operation and over all', async () => {
  const { pay, lines } = observed({ table: 'once-prod' });
  await pay({ id: 'a', amount: 1 });
  for (const { table, _aws } of lines) {
    expect(table).toBe('once-prod');
    const [metrics] = _aws.CloudWatchMetrics;
    expect(metrics?.Dimensions).toEqual([['table', 'operation'], ['table']]);
  }
});

test('C05: the table is the one that the environment names, unless told', async () => {
  vi.stubEnv('LAMBDA_ONCE_TABLE', 'once-stage');
  const [named, told] = [observed(), observed({ table: 'once-prod' })];
  await named.pay({ id: 'a', amount: 1 });
  await told.pay({ id: 'a', amount: 1 });
  vi.unstubAllEnvs();
  expect([named.lines[0]?.table, told.lines[0]?.table]).toEqual(['once-stage', 'once-prod']);
});

test('first runs and replays tell whose they are by a digest: the same client the same, nobody else', async () => {
  const lines: Line[] = [];
  const observe = emfMetrics({ write: (line) => lines.push(JSON.parse(line) as Line) });
  const pay = idempotent(async ({ id }: { id: string; tenant: string }) => id, {
    store: memoryStore(),
    operation: 'pay',
    scope: ({ tenant }) => tenant,
    key: ({ id }) => id,
    observe,
  });
  for (const tenant of ['ann@example.com', 'ann@example.com', 'bob@example.com'])
    await pay({ id: '1', tenant });
  const told = lines.filter(({ type }) => type === 'claimed' || type === 'replayed');
  expect(told.map(({ type }) => type)).toEqual(['claimed', 'replayed', 'claimed']);
  const [first, again, other] = told.map(({ client }) => client);
  expect(first).toMatch(/^[\w-]{12}$/);
  expect([again === first, other === first]).toEqual([true, false]);
  expect(JSON.stringify(lines)).not.toContain('ann@');
});
