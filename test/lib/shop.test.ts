import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { expect, test } from 'vitest';
import { ShopStack } from '../../lib/shop-stack.ts';
import { allowed, freshApp, properties, resources, text } from './support.ts';

interface Report {
  readonly pluginReports: readonly {
    readonly pluginName: string;
    readonly conclusion: string;
    readonly violations: readonly object[];
    readonly suppressedViolations: readonly { readonly acknowledgedId: string }[];
  }[];
}

/** The shop, checked as `npx cdk deploy` does. */
function shop() {
  const app = freshApp();
  const stack = new ShopStack(app, 'OnceShop');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  const report = (): Report => {
    const { directory } = app.synth();
    return JSON.parse(readFileSync(join(directory, 'validation-report.json'), 'utf8'));
  };
  return { app, stack, report };
}

test('the shop is what two packs of rules of cdk-nag ask for', () => {
  const { pluginReports } = shop().report();
  expect(pluginReports).toMatchObject([
    { pluginName: 'AwsSolutions', conclusion: 'success', violations: [] },
    { pluginName: 'Serverless', conclusion: 'success', violations: [] },
  ]);
});

test('each exception that the shop makes is still needed', () => {
  const { stack, report } = shop();
  const suppressed = report().pluginReports.flatMap(({ suppressedViolations }) => suppressedViolations);
  const needed = new Set(suppressed.map(({ acknowledgedId }) => acknowledgedId));
  const entries = stack.node.findAll().flatMap(({ node }) => node.metadata);
  const acknowledged = entries
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.keys(data as object));
  expect(new Set(acknowledged)).toEqual(needed);
  expect(needed.size).toBeGreaterThan(0);
});

test('control: a plain queue is objected to', () => {
  const { app, stack } = shop();
  new Queue(stack, 'Plain');
  expect(() => app.synth()).toThrow(/AwsSolutions-SQS4[\s\S]*OnceShop\/Plain/);
  expect(process.exitCode).toBeUndefined();
});

const { stack: synthesised } = shop();

test('Q09: the clocks of the shop fit one another', () => {
  Annotations.fromStack(synthesised).hasNoWarning('*', Match.anyValue());
});

const claims = ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'];
const consumes = expect.arrayContaining(['sqs:ReceiveMessage', 'sqs:DeleteMessage']);

test.each([
  ['Authorize', { 'Tokens.Arn': ['dynamodb:GetItem'] }, { TOKENS_TABLE: 'Tokens' }],
  [
    'Pay',
    {
      'OnceTable.Arn': claims,
      'Charges.Arn': ['dynamodb:PutItem', 'dynamodb:Query'],
      'Payments.Arn': ['dynamodb:PutItem'],
    },
    { LAMBDA_ONCE_TABLE: 'OnceTable', CHARGES_TABLE: 'Charges', PAYMENTS_TABLE: 'Payments' },
  ],
  ['Status', { 'OnceTable.Arn': ['dynamodb:GetItem'] }, { LAMBDA_ONCE_TABLE: 'OnceTable' }],
  [
    'Ship',
    { 'OnceTable.Arn': claims, 'Parcels.Arn': ['dynamodb:PutItem'], 'ShippingQueue.Arn': consumes },
    { LAMBDA_ONCE_TABLE: 'OnceTable', PARCELS_TABLE: 'Parcels' },
  ],
  [
    'Sweep',
    {
      'OnceTable.Arn': ['dynamodb:DescribeTable', 'dynamodb:GetItem', 'dynamodb:UpdateItem'],
      'OnceTable.Arn/index/sweep': ['dynamodb:Query'],
      'Charges.Arn': ['dynamodb:Query'],
      'SweeperDeadLetters.Arn': expect.arrayContaining(['sqs:SendMessage']),
    },
    { LAMBDA_ONCE_TABLE: 'OnceTable', CHARGES_TABLE: 'Charges' },
  ],
])('%s may do what it does, knows where, and nothing else', (id, permissions, variables) => {
  expect(allowed(synthesised, `${id}ServiceRole`)).toEqual(permissions);
  const { Variables } = properties(synthesised, 'AWS::Lambda::Function', id).Environment;
  const told = Object.entries(Variables).map(([name, value]) => [name, text(value)]);
  expect(Object.fromEntries(told)).toEqual(variables);
});

test('for an emulator it does without metric math', () => {
  const reckoned = (mathAlarms: boolean) => {
    const stack = new ShopStack(freshApp(), 'OnceShop', { mathAlarms });
    const alarms = Object.values(resources(stack, 'AWS::CloudWatch::Alarm'));
    return alarms.filter(({ Properties }) => 'Metrics' in Properties).length;
  };
  expect([reckoned(true), reckoned(false)]).toEqual([4, 0]);
});
