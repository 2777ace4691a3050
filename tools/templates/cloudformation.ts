import { stringify } from 'yaml';
import { type Json, type Resource, sweeperCode } from './synthesised.ts';

type Resources = Readonly<Record<string, Resource>>;

/** A comment, a template, in YAML as people write it. */
export function yamlOf(comment: string, template: { readonly [section: string]: Json }): string {
  return `${comment}\n${stringify(template, {
    lineWidth: 0,
    aliasDuplicateObjects: false,
    // what AWS reads it as: there a plain 2012-10-17 is a date
    version: '1.1',
  })}`;
}

/** What somebody has to know of the stack. */
const outputs: { readonly [name: string]: Json } = {
  TableName: { Value: { Ref: 'OnceTable' } },
  ...Object.fromEntries(
    ['Claim', 'Lookup', 'Inspect', 'Resolve', 'Sweep'].map((role) => [
      `${role}PolicyArn`,
      { Value: { Ref: `${role}Policy` } },
    ]),
  ),
};

/** The constructs' own template, with the code of the sweeper from where npm puts it. */
export function cloudFormation(resources: Resources): string {
  const { SweeperFunction, ...others } = resources;
  if (SweeperFunction === undefined) throw new Error('There is no sweeper.');
  const Properties = { ...SweeperFunction.Properties, Code: sweeperCode };
  return yamlOf(
    '# Generated from the constructs of lambda-once by `npm run templates`.\n' +
      '# aws cloudformation package --template-file lambda-once.cfn.yaml --s3-bucket … | aws cloudformation deploy …',
    {
      AWSTemplateFormatVersion: '2010-09-09',
      Description: 'lambda-once: the table, a policy for each role, and the sweeper on its schedule',
      Resources: { ...others, SweeperFunction: { ...SweeperFunction, Properties } },
      Outputs: outputs,
    },
  );
}

/** The same as SAM says it, and a function that uses the table. */
export function sam(resources: Resources): string {
  const properties = (id: string): Resource['Properties'] => {
    const resource = resources[id];
    if (resource === undefined) throw new Error(`There is no ${id}.`);
    return resource.Properties;
  };
  const {
    OnceTable = null,
    SweeperDeadLetters = null,
    SweeperDeadLettersPolicy = null,
    SweeperLogs = null,
  } = resources;
  const { Code: _, Role: __, ...sweeper } = properties('SweeperFunction');
  const schedule = properties('SweeperSchedule');
  const target = schedule.Target as { readonly RetryPolicy: Json };
  const { MaximumEventAgeInSeconds, MaximumRetryAttempts } = properties('SweeperRetries') as Record<
    string,
    Json
  >;
  const deadLetters = { 'Fn::GetAtt': ['SweeperDeadLetters', 'Arn'] };
  return yamlOf(
    '# Generated from the constructs of lambda-once by `npm run templates`. sam build is not needed for the sweeper.',
    {
      AWSTemplateFormatVersion: '2010-09-09',
      Transform: 'AWS::Serverless-2016-10-31',
      Resources: {
        OnceTable,
        OrdersFunction: {
          Type: 'AWS::Serverless::Function',
          Properties: {
            CodeUri: 'your/build/of/orders/',
            Handler: 'index.handler',
            Runtime: sweeper.Runtime ?? null,
            Environment: sweeper.Environment ?? null,
            Policies: [properties('ClaimPolicy').PolicyDocument ?? null],
          },
        },
        SweeperFunction: {
          Type: 'AWS::Serverless::Function',
          Properties: {
            CodeUri: sweeperCode,
            ...sweeper,
            Policies: [properties('SweeperPolicy').PolicyDocument ?? null],
            EventInvokeConfig: {
              MaximumEventAgeInSeconds: MaximumEventAgeInSeconds ?? null,
              MaximumRetryAttempts: MaximumRetryAttempts ?? null,
              DestinationConfig: { OnFailure: { Type: 'SQS', Destination: deadLetters } },
            },
            Events: {
              Schedule: {
                Type: 'ScheduleV2',
                Properties: {
                  ScheduleExpression: schedule.ScheduleExpression ?? null,
                  RetryPolicy: target.RetryPolicy,
                  DeadLetterConfig: { Arn: deadLetters },
                },
              },
            },
          },
        },
        SweeperLogs,
        SweeperDeadLetters,
        SweeperDeadLettersPolicy,
      },
      Outputs: { TableName: { Value: { Ref: 'OnceTable' } } },
    },
  );
}
