import type { Stack } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { expect, test } from 'vitest';
import { OnceDashboard, OnceTable } from '../../lib/index.ts';
import { emittedLines, metricsOf } from './emitted.ts';
import { everything, freshStack, properties, text } from './support.ts';

const lines = await emittedLines();

interface Widget {
  readonly type: string;
  readonly properties: {
    readonly title?: string;
    readonly markdown?: string;
    readonly query?: string;
    /** Each a namespace, a name, names and values of dimensions, and options; or only an expression. */
    readonly metrics?: readonly (readonly [string, string, ...unknown[]])[];
  };
}

/** The widgets as CloudWatch reads them. */
function widgetsIn(stack: Stack): Widget[] {
  const { DashboardBody } = properties(stack, 'AWS::CloudWatch::Dashboard');
  return (JSON.parse(text(DashboardBody)) as { widgets: Widget[] }).widgets;
}

/** A dashboard of everything there is. */
function full(): Widget[] {
  const stack = freshStack();
  const logGroups = ['PayLogs', 'ShipLogs'].map((id) => new LogGroup(stack, id));
  new OnceDashboard(stack, 'Dashboard', { ...everything(stack), logGroups });
  return widgetsIn(stack);
}

const titlesOf = (widgets: readonly Widget[]): string[] =>
  widgets.map(({ properties: { title, markdown } }) => title ?? markdown?.split('\n')[0] ?? '');

const always = [
  '# lambda-once',
  'Ran and replayed',
  'Replays (%)',
  'Refused',
  'Failures',
  'Capacity units',
  'Latency of DynamoDB, p99 (ms)',
];

test('each widget says what it shows', () => {
  const others = ['In doubt', 'Oldest open (ms)', 'Settled', 'Sweeper', 'Dead letters'];
  const queries = ['Replays by client', 'Replayed most'];
  expect(titlesOf(full()).toSorted()).toEqual([...always, ...others, ...queries].sort());
});

test('what is not there is not shown', () => {
  const stack = freshStack();
  new OnceDashboard(stack, 'Dashboard', { table: new OnceTable(stack, 'Once'), dashboardName: 'once' });
  expect(titlesOf(widgetsIn(stack))).toEqual(always);
  expect(properties(stack, 'AWS::CloudWatch::Dashboard').DashboardName).toBe('once');
});

test('dead letters are told apart by whose they are', () => {
  const [graph] = full().filter(({ properties: { title } }) => title === 'Dead letters');
  const labels = graph?.properties.metrics?.map((metric) => (metric.at(-1) as { label: string }).label);
  expect(labels).toEqual(['outbox', 'Ship', 'Mail']);
});

test('C05: the metrics of the runtime are those that it emits, by the same names and dimensions', () => {
  const emitted = metricsOf(lines);
  const shown = full()
    .flatMap(({ properties: { metrics = [] } }) => metrics)
    .filter(([namespace]) => namespace === 'LambdaOnce');
  expect(shown.length).toBeGreaterThan(10);
  for (const [namespace, name, ...dimensions] of shown) {
    expect(emitted.get(`${namespace} ${name}`)).toContainEqual(['table']);
    expect(dimensions.slice(0, -1)).toEqual(['table', 'OnceTable']);
  }
});

test('the queries read all log groups, and only fields that the lines they keep have', () => {
  const queries = full().flatMap(({ properties: { query } }) => query ?? []);
  expect(queries).toHaveLength(2);
  for (const query of queries) {
    expect(query).toMatch(/^SOURCE 'PayLogs' \| SOURCE 'ShipLogs' \| fields /);
    const types = [...query.matchAll(/\btype = '(\w+)'/g)].map(([, type]) => type);
    const fields = [...query.matchAll(/\b(?:fields|by) ([\w, ]+)/g)].flatMap(([, list = '']) =>
      list.trim().split(', '),
    );
    const counted = [...query.matchAll(/count\((\w+)\)/g)].map(([, field = '']) => field);
    const kept = lines.filter(({ type }) => types.includes(type));
    expect(new Set(kept.map(({ type }) => type))).toEqual(new Set(types));
    for (const line of kept) for (const field of fields) expect(line).toHaveProperty(field);
    // each of these counts the lines of one type
    for (const field of counted) {
      const having = kept.filter((line) => line[field] === 1).map(({ type }) => type);
      expect(new Set(having).size).toBe(1);
      expect(kept.filter(({ type }) => type === having[0])).toHaveLength(having.length);
    }
  }
});

test('an option that it does not know is refused', () => {
  const stack = freshStack();
  const props = { table: new OnceTable(stack, 'Once'), name: 'once' };
  expect(() => new OnceDashboard(stack, 'Dashboard', props)).toThrow(
    'OnceDashboard: the option "name" is not accepted: it takes table, ',
  );
});
