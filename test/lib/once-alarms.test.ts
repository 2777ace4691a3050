import { readFileSync } from 'node:fs';
import type { Stack } from 'aws-cdk-lib';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { beforeAll, describe, expect, test } from 'vitest';
import { OnceAlarms, type OnceAlarmsProps, OnceTable } from '../../lib/index.ts';
import type { SweepReport } from '../../src/sweeper.ts';
import { inMemory, minute, payments, sweeper } from '../lambda/support.ts';
import { emittedLines, metricsOf } from './emitted.ts';
import { everything, freshStack, properties, type Resource, resources, text } from './support.ts';

type Options = Partial<OnceAlarmsProps>;

/** Alarms on everything there is. */
function made(options: (stack: Stack) => Options = () => ({ expectedItems: 1000 })) {
  const stack = freshStack();
  return { stack, alarms: new OnceAlarms(stack, 'Alarms', { ...everything(stack), ...options(stack) }) };
}

const ofTable = ['CompletionFailures', 'LeasesLost', 'Mismatches', 'StoreFailures'];
const byMath = ['ReplayRateHigh', 'ReplayRateZero', 'SystemErrors', 'Throttles'];
const ofParts = [
  'DeadLetters',
  'DeadLetters2',
  'InDoubt',
  'OldestAge',
  'OutboxDeadLetters',
  'OutboxLate',
  'SweeperBehind',
  'SweeperErrors',
  'SweeperFailed',
  'SweeperSilent',
];

const type = 'AWS::CloudWatch::Alarm';
type Properties = Resource['Properties'];

/** The properties of the alarms, by id. */
function alarmsIn(stack: Stack): [string, Properties][] {
  return Object.entries(resources(stack, type)).map(([id, { Properties }]) => [
    id.replace(/^Alarms/, ''),
    Properties,
  ]);
}

/** The metrics of an alarm: its own, or those that it reckons with. */
function metricsIn(alarm: Properties): Properties[] {
  const { Metrics = [{ MetricStat: { Metric: alarm } }] } = alarm;
  return (Metrics as Properties[]).flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
}

const dimensionsOf = ({ Dimensions }: Properties): [string, string][] =>
  (Dimensions as { Name: string; Value: unknown }[]).map(({ Name, Value }) => [Name, text(Value)]);

describe('all alarms', () => {
  let all: [string, Properties][];
  let ids: string[];
  beforeAll(() => {
    const { stack, alarms } = made();
    all = alarmsIn(stack);
    ids = [...alarms.alarms.keys()];
  });

  test('are there, each by its id', () => {
    const expected = [...ofTable, ...byMath, ...ofParts, 'TableSize'].sort();
    expect(ids.toSorted()).toEqual(expected);
    expect(all.map(([id]) => id).sort()).toEqual(expected);
  });

  test('C05: take no more than the ten metrics that CloudWatch allows', () => {
    const most = Math.max(...all.map(([, alarm]) => metricsIn(alarm).length));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(10);
  });

  test('C05, W05: do not ring where there is no data, but for the one that listens for silence', () => {
    const breaching = all.filter(([, { TreatMissingData }]) => TreatMissingData !== 'notBreaching');
    expect(breaching.map(([id, { TreatMissingData }]) => [id, TreatMissingData])).toEqual([
      ['SweeperSilent', 'breaching'],
    ]);
  });

  test('say what to do, and where more is said', () => {
    for (const [id, { AlarmDescription }] of all)
      expect(AlarmDescription).toMatch(
        new RegExp(`\\. .*docs/alarms\\.md of lambda-once, "${runbook(id)}"\\.$`),
      );
  });

  test('C05: those of DynamoDB name each operation that the runtime calls', () => {
    const called = ['GetItem', 'PutItem', 'UpdateItem', 'Query', 'TransactWriteItems'];
    for (const [id, name] of [
      ['Throttles', 'ThrottledRequests'],
      ['SystemErrors', 'SystemErrors'],
    ]) {
      const metrics = all.filter(([each]) => each === id).flatMap(([, alarm]) => metricsIn(alarm));
      const looked = metrics.map((each) => [each.Namespace, each.MetricName, ...dimensionsOf(each).flat()]);
      expect(looked).toEqual(
        called.map((call) => ['AWS/DynamoDB', name, 'Operation', call, 'TableName', 'OnceTable']),
      );
    }
  });

  test('C05, W05: those of the runtime look at what it emits, by the same names and dimensions', async () => {
    const lines = await emittedLines();
    expect(new Set(lines.map(({ table }) => table))).toEqual(new Set(['once-prod']));
    const emitted = metricsOf(lines);
    const own = all
      .flatMap(([, alarm]) => metricsIn(alarm))
      .filter(({ Namespace }) => !String(Namespace).startsWith('AWS'));
    const looked = own.map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`);
    expect(looked.filter((name) => !emitted.has(name))).toEqual([]);
    expect(new Set(looked).size).toBe(11);
    for (const each of own) {
      const dimensions = dimensionsOf(each);
      expect(emitted.get(`${each.Namespace} ${each.MetricName}`)).toContainEqual(
        dimensions.map(([name]) => name),
      );
      expect(dimensions).toEqual([['table', 'OnceTable']]);
    }
  });

  test('have a runbook each, and no runbook is about an alarm that is gone', () => {
    const page = readFileSync('docs/alarms.md', 'utf8');
    const headings = [...page.matchAll(/^#{2,3} (.+)$/gm)].map(([, heading = '']) => heading);
    const runbooks = new Set(ids.map(runbook));
    expect([...runbooks].filter((id) => !headings.includes(id))).toEqual([]);
    const named = headings.filter((heading) => /^([A-Z][a-z]+){2,}$/.test(heading));
    expect(named.filter((id) => !runbooks.has(id))).toEqual([]);
  });
});

test('W05: what stays in doubt rings without a break, although it is asked about more and more seldom', async () => {
  const { clock, store } = inMemory();
  const sweep = sweeper({ store });
  await payments(store, { onLapse: 'hold' }).crash();
  const reports: SweepReport[] = [];
  for (let minutes = 0; minutes < 6 * 60; minutes += 1) {
    reports.push(await sweep());
    clock.advance(minute);
  }
  const rings = (id: string, measure: (report: SweepReport) => number) => {
    const { Period, Threshold, EvaluationPeriods, DatapointsToAlarm } = properties(
      made().stack,
      type,
      `Alarms${id}`,
    );
    expect(DatapointsToAlarm).toBe(1);
    const periods = Array.from({ length: (reports.length * 60) / Period }, (_, index) =>
      reports.slice((index * Period) / 60, ((index + 1) * Period) / 60),
    );
    const over = periods.map((each) => Math.max(...each.map(measure)) >= Threshold);
    return over.map((_, index) =>
      over.slice(Math.max(0, index + 1 - EvaluationPeriods), index + 1).includes(true),
    );
  };
  const ringing = [
    rings('InDoubt', ({ inDoubt }) => inDoubt),
    rings('OldestAge', ({ oldestAge }) => oldestAge),
  ];
  for (const each of ringing) {
    expect(each).toContain(true);
    expect(each.slice(each.indexOf(true))).not.toContain(false);
  }
});

/** Several consumers have one runbook. */
function runbook(id: string): string {
  return id.replace(/\d+$/, '');
}

test('a table alone has the alarms of a table', () => {
  const stack = freshStack();
  const { alarms } = new OnceAlarms(stack, 'Alarms', { table: new OnceTable(stack, 'Once') });
  expect([...alarms.keys()].sort()).toEqual([...ofTable, ...byMath].sort());
});

test('without mathAlarms nothing is reckoned, and the rest stays', () => {
  const all = alarmsIn(made(() => ({ mathAlarms: false })).stack);
  expect(all.map(([id]) => id).sort()).toEqual([...ofTable, ...ofParts].sort());
  for (const [, alarm] of all) expect(alarm).not.toHaveProperty('Metrics');
});

test('each alarm does what it is told when it rings', () => {
  const { stack } = made((scope) => ({ actions: [new SnsAction(new Topic(scope, 'Pager'))] }));
  for (const [, { AlarmActions }] of alarmsIn(stack)) expect(AlarmActions.map(text)).toEqual(['Pager']);
  expect(alarmsIn(made().stack)[0]?.[1]).not.toHaveProperty('AlarmActions');
});
