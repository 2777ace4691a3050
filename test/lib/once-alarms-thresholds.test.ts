import { Duration } from 'aws-cdk-lib';
import { describe, expect, test } from 'vitest';
import { OnceAlarms, type OnceAlarmsProps, OnceSweeper, OnceTable } from '../../lib/index.ts';
import { everything, freshStack, properties } from './support.ts';

type Options = Partial<OnceAlarmsProps>;

/** When alarms ring: the comparison, how many periods, and their seconds, or the expression where there is one. */
function alarms(options: Options = {}): (id: string) => unknown[] {
  const stack = freshStack();
  new OnceAlarms(stack, 'Alarms', { ...everything(stack), ...options });
  return (id) => {
    const alarm = properties(stack, 'AWS::CloudWatch::Alarm', `Alarms${id}`);
    const { ComparisonOperator, Threshold, EvaluationPeriods, Period, Metrics = [] } = alarm;
    const sign = { GreaterThanOrEqualToThreshold: '>=', LessThanThreshold: '<' }[
      ComparisonOperator as string
    ];
    const [{ Expression } = { Expression: undefined }] = Metrics as { Expression?: string }[];
    return [`${sign} ${Threshold}`, EvaluationPeriods, Expression ?? Period];
  };
}

const [minutes5, minutes15, hour] = [300, 900, 3600];

test('each alarm has a default', () => {
  const rings = alarms({ expectedItems: 999 });
  expect(rings('CompletionFailures')).toEqual(['>= 1', 1, minutes15]);
  expect(rings('LeasesLost')).toEqual(['>= 1', 1, minutes15]);
  expect(rings('Mismatches')).toEqual(['>= 10', 1, minutes15]);
  expect(rings('StoreFailures')).toEqual(['>= 5', 1, minutes5]);
  expect(rings('InDoubt')).toEqual(['>= 1', 5, minutes5]);
  expect(rings('OldestAge')).toEqual(['>= 900000', 5, minutes5]);
  expect(rings('SweeperErrors')).toEqual(['>= 1', 1, minutes5]);
  expect(rings('SweeperFailed')).toEqual(['>= 1', 3, minutes5]);
  expect(rings('SweeperBehind')).toEqual(['>= 1', 3, minutes5]);
  expect(rings('SweeperSilent')).toEqual(['< 1', 3, minutes5]);
  expect(rings('TableSize')).toEqual(['>= 1499', 1, hour]);
  expect(rings('OutboxLate')).toEqual(['>= 900000', 1, minutes5]);
  expect(rings('OutboxDeadLetters')).toEqual(['>= 1', 1, minutes5]);
  expect(rings('DeadLetters2')).toEqual(['>= 1', 1, minutes5]);
  for (const id of ['Throttles', 'SystemErrors'])
    expect(rings(id)).toEqual(['>= 1', 3, expect.stringContaining('transactwriteitems')]);
});

test('replay rates say something from a thousand deliveries on', () => {
  const rings = alarms();
  expect(rings('ReplayRateHigh')).toEqual(['>= 40', 3, expect.stringContaining('>= 1000,')]);
  expect(rings('ReplayRateZero')).toEqual(['< 1', 1, expect.stringContaining('>= 1000,')]);
});

test('thresholds are passed on', () => {
  const oldestAge = Duration.minutes(1);
  const rings = alarms({ oldestAge, mismatches: 3, replayRate: 75, traffic: 50, expectedItems: 2 });
  expect(rings('OldestAge')).toEqual(['>= 60000', 5, minutes5]);
  expect(rings('Mismatches')).toEqual(['>= 3', 1, minutes15]);
  expect(rings('ReplayRateHigh')).toEqual(['>= 75', 3, expect.stringContaining('>= 50,')]);
  expect(rings('ReplayRateZero')).toEqual(['< 1', 1, expect.stringContaining('>= 50,')]);
  expect(rings('TableSize')).toEqual(['>= 3', 1, hour]);
});

test.each([
  [Duration.minutes(1), 300],
  [Duration.minutes(7), 420],
  [Duration.hours(1), 3600],
])(
  'a sweeper that runs every %s is looked at over %i seconds, so that there is a pass in each period',
  (every, seconds) => {
    const stack = freshStack();
    const table = new OnceTable(stack, 'Once');
    const sweeper = new OnceSweeper(stack, 'Sweeper', { table, every });
    new OnceAlarms(stack, 'Alarms', { table, sweeper });
    for (const id of [
      'InDoubt',
      'OldestAge',
      'SweeperErrors',
      'SweeperFailed',
      'SweeperBehind',
      'SweeperSilent',
    ])
      expect(properties(stack, 'AWS::CloudWatch::Alarm', `Alarms${id}`).Period).toBe(seconds);
  },
);

describe('refused:', () => {
  test.each<[string, Options, string]>([
    [
      'an age of seconds',
      { oldestAge: Duration.seconds(59) },
      'oldestAge is 59 seconds; it takes 1 minute to 7 days.',
    ],
    [
      'an age of weeks',
      { oldestAge: Duration.hours(169) },
      'oldestAge is 7 days 1 hour; it takes 1 minute to 7 days.',
    ],
    ['no mismatch', { mismatches: 0 }, 'mismatches is 0; it takes whole numbers from 1 to 1000000000.'],
    ['a rate of nothing', { replayRate: 0 }, 'replayRate is 0; it takes whole numbers from 1 to 100.'],
    ['a rate above all', { replayRate: 101 }, 'replayRate is 101; it takes whole numbers from 1 to 100.'],
    ['no traffic', { traffic: 0 }, 'traffic is 0; it takes whole numbers from 1 to '],
    ['an empty table', { expectedItems: 0 }, 'expectedItems is 0; it takes whole numbers from 1 to '],
    ['a number that is none', { traffic: Number.NaN }, 'traffic is NaN; it takes whole numbers from 1 to '],
    [
      'an option that is not known',
      { topic: 1 } as Options,
      'the option "topic" is not accepted: it takes table, ',
    ],
  ])('%s', (_, options, why) => {
    expect(() => alarms(options)).toThrow(`OnceAlarms: ${why}`);
  });
});
