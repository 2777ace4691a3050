import { Duration } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { Code, type Function as LambdaFunction, Runtime, SingletonFunction } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { describe, expect, test } from 'vitest';
import { OnceSweeper, type OnceSweeperProps, OnceTable } from '../../lib/index.ts';
import { metric } from '../../src/names.ts';
import { allowed, freshStack, lambda, properties, resources, seen, text } from './support.ts';

type Options = Omit<OnceSweeperProps, 'table'>;

/** A sweeper in a stack of its own. */
function made(options: (scope: Construct) => Options = () => ({})) {
  const stack = freshStack();
  const table = new OnceTable(stack, 'Once');
  return { stack, table, sweeper: new OnceSweeper(stack, 'Sweeper', { table, ...options(stack) }) };
}

const deadLetters = 'SweeperDeadLetters.Arn';

test('a schedule starts the prebuilt function each minute, and once more if that fails', () => {
  const { stack } = made();
  const schedule = properties(stack, 'AWS::Scheduler::Schedule');
  expect(schedule).toMatchObject({
    ScheduleExpression: 'rate(1 minute)',
    State: 'ENABLED',
    Target: { RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 1 } },
  });
  expect(text(schedule.Target.Arn)).toBe('SweeperHandler.Arn');
  expect(text(schedule.Target.RoleArn)).toMatch(/^SchedulerRole.*\.Arn$/);
});

test('the prebuilt function is told the table, ends before the next pass, and never runs twice at once', () => {
  const { stack } = made();
  const fn = properties(stack, 'AWS::Lambda::Function');
  expect(fn).toMatchObject({
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    ReservedConcurrentExecutions: 1,
  });
  expect(fn.Timeout).toBeLessThan(60);
  expect(text(fn.Environment.Variables.LAMBDA_ONCE_TABLE)).toBe('OnceTable');
});

test('its log is kept for a month, or as long as told', () => {
  const logs = (options?: Options) => {
    const { stack } = made(() => ({ ...options }));
    expect(text(properties(stack, 'AWS::Lambda::Function').LoggingConfig.LogGroup)).toBe(
      'SweeperHandlerLogs',
    );
    return properties(stack, 'AWS::Logs::LogGroup', 'SweeperHandlerLogs').RetentionInDays;
  };
  expect([logs(), logs({ logRetention: RetentionDays.ONE_WEEK })]).toEqual([30, 7]);
});

test('its function may sweep and send dead letters, and nothing else', () => {
  const {
    'OnceTable.Arn': onTable,
    [deadLetters]: onQueue,
    ...others
  } = allowed(made().stack, 'SweeperHandler');
  expect(onTable).toEqual(['dynamodb:DescribeTable', 'dynamodb:GetItem', 'dynamodb:UpdateItem']);
  expect(onQueue).toContain('sqs:SendMessage');
  expect(others).toEqual({ 'OnceTable.Arn/index/sweep': ['dynamodb:Query'] });
});

describe('W05: what fails for good', () => {
  test('can be sent to the dead letters by the schedule’s role, which may also invoke the one function', () => {
    expect(allowed(made().stack, 'SchedulerRole')).toEqual({
      'SweeperHandler.Arn': ['lambda:InvokeFunction'],
      'SweeperHandler.Arn:*': ['lambda:InvokeFunction'],
      [deadLetters]: ['sqs:SendMessage'],
    });
  });

  test('lands there if the schedule could not start it, and if it threw', () => {
    const { stack } = made();
    const { Target } = properties(stack, 'AWS::Scheduler::Schedule');
    const onThrow = properties(stack, 'AWS::Lambda::EventInvokeConfig');
    expect(text(Target.DeadLetterConfig.Arn)).toBe(deadLetters);
    expect(text(onThrow.DestinationConfig.OnFailure.Destination)).toBe(deadLetters);
    expect(onThrow).toMatchObject({ MaximumEventAgeInSeconds: 300, MaximumRetryAttempts: 1 });
  });

  test('stays for two weeks, encrypted, and travels over TLS only', () => {
    const { stack } = made();
    expect(properties(stack, 'AWS::SQS::Queue')).toEqual({
      MessageRetentionPeriod: 14 * 24 * 3600,
      SqsManagedSseEnabled: true,
    });
    const [statement, ...others] = properties(stack, 'AWS::SQS::QueuePolicy').PolicyDocument.Statement;
    expect(others).toEqual([]);
    expect(statement).toMatchObject({
      Effect: 'Deny',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
  });
});

test('a slower rhythm leaves Lambda as much time, up to the six hours that it remembers', () => {
  const ages = [Duration.minutes(4), Duration.minutes(30), Duration.days(1)].map((every) => {
    const { stack } = made(() => ({ every }));
    const { ScheduleExpression, Target } = properties(stack, 'AWS::Scheduler::Schedule');
    const { MaximumEventAgeInSeconds } = properties(stack, 'AWS::Lambda::EventInvokeConfig');
    return [ScheduleExpression, Target.RetryPolicy.MaximumEventAgeInSeconds, MaximumEventAgeInSeconds];
  });
  expect(ages).toEqual([
    ['rate(4 minutes)', 240, 300],
    ['rate(30 minutes)', 1800, 1800],
    ['rate(1 day)', 86_400, 21_600],
  ]);
});

test.each([
  [Duration.seconds(59), 'OnceSweeper: every is 59 seconds; it takes 1 minute to 1 day.'],
  [Duration.seconds(90), 'whole number of minutes'],
  [Duration.hours(25), 'OnceSweeper: every is 1 day 1 hour; it takes 1 minute to 1 day.'],
])('every: %s is refused', (every, why) => {
  expect(() => made(() => ({ every }))).toThrow(why);
});

test('an option that it does not know is refused', () => {
  expect(() => made(() => ({ rate: 1 }) as Options)).toThrow(
    'OnceSweeper: the option "rate" is not accepted: ',
  );
});

describe('a function of one’s own', () => {
  const own = (props: object = {}, options: Options = {}) =>
    made((scope) => ({ ...options, handler: lambda(scope, 'Own', props) }));

  test('is used, connected and configured as the prebuilt one is', () => {
    const { stack, sweeper } = own();
    expect(sweeper.handler.node.id).toBe('Own');
    expect(Object.keys(resources(stack, 'AWS::Lambda::Function'))).toEqual(['Own']);
    expect(text(properties(stack, 'AWS::Scheduler::Schedule').Target.Arn)).toBe('Own.Arn');
    const fn = properties(stack, 'AWS::Lambda::Function');
    expect(fn.ReservedConcurrentExecutions).toBe(1);
    expect(text(fn.Environment.Variables.LAMBDA_ONCE_TABLE)).toBe('OnceTable');
    expect(allowed(stack, 'Own')).toMatchObject({ 'OnceTable.Arn/index/sweep': ['dynamodb:Query'] });
    expect(properties(stack, 'AWS::Lambda::EventInvokeConfig')).toMatchObject({ MaximumRetryAttempts: 1 });
  });

  test('keeps the concurrency that was reserved for it, and has none where that is switched off', () => {
    const reserved = (props?: object, options?: Options) =>
      properties(own(props, options).stack, 'AWS::Lambda::Function').ReservedConcurrentExecutions;
    expect(reserved({ reservedConcurrentExecutions: 3 })).toBe(3);
    expect(reserved({}, { reserveConcurrency: false })).toBeUndefined();
  });

  test('keeps how its failures are dealt with', () => {
    const { stack } = own({ retryAttempts: 0, maxEventAge: Duration.minutes(2) });
    expect(properties(stack, 'AWS::Lambda::EventInvokeConfig')).toMatchObject({
      MaximumEventAgeInSeconds: 120,
      MaximumRetryAttempts: 0,
    });
    expect(properties(stack, 'AWS::Lambda::EventInvokeConfig')).not.toHaveProperty('DestinationConfig');
  });

  test('whose concurrency cannot be reserved is warned of', () => {
    const code = { code: Code.fromInline('x'), handler: 'index.handler', runtime: Runtime.NODEJS_24_X };
    const singleton = (scope: Construct) => new SingletonFunction(scope, 'Own', { uuid: 'one', ...code });
    const warnings = (reserveConcurrency: boolean) => {
      const handler = (scope: Construct) => singleton(scope) as unknown as LambdaFunction;
      const { stack } = made((scope) => ({ handler: handler(scope), reserveConcurrency }));
      return Annotations.fromStack(stack).findWarning(
        '/Stack/Own',
        Match.stringLikeRegexp('reserve a concurrency of one'),
      );
    };
    expect([warnings(true), warnings(false)]).toMatchObject([{ length: 1 }, { length: 0 }]);
  });
});

test('C05: its metrics are those of its report, the fullest pass counts; errors are the function’s', () => {
  const { stack, sweeper } = made();
  const metrics = {
    [metric.sweepInDoubt]: sweeper.metricInDoubt(),
    [metric.sweepOldestAge]: sweeper.metricOldestAge(),
    [metric.sweepFailed]: sweeper.metricFailed(),
    [metric.sweepTruncated]: sweeper.metricTruncated(),
    [metric.tableItems]: sweeper.metricTableItems(),
    [metric.sweepSettling]: sweeper.metric('SweepSettling'),
  };
  for (const [name, each] of Object.entries(metrics))
    expect(seen(stack, each)).toEqual(['LambdaOnce', name, 'Maximum', 'table', 'OnceTable']);
  const ofFunction = ['FunctionName', 'SweeperHandler'];
  expect(seen(stack, sweeper.metricErrors())).toEqual(['AWS/Lambda', 'Errors', 'Sum', ...ofFunction]);
  expect(seen(stack, sweeper.metricInvocations())).toEqual([
    'AWS/Lambda',
    'Invocations',
    'Sum',
    ...ofFunction,
  ]);
});
