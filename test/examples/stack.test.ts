import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { OrdersStack } from '../../examples/stack.ts';

test('examples/stack.ts: a table, a function that knows and may use it, a sweeper, and alarms that reach somebody', () => {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const template = Template.fromStack(new OrdersStack(app, 'Orders'));
  const [table] = Object.keys(template.findResources('AWS::DynamoDB::GlobalTable'));
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ LAMBDA_ONCE_TABLE: { Ref: table } }) },
  });
  template.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: Match.objectLike({
      Statement: [
        {
          Effect: 'Allow',
          Action: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
          Resource: { 'Fn::GetAtt': [table, 'Arn'] },
        },
      ],
    }),
  });
  template.resourceCountIs('AWS::Scheduler::Schedule', 1);
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
  expect(alarms.length).toBeGreaterThan(10);
  for (const { Properties } of alarms) expect(Properties.AlarmActions).toHaveLength(1);
});
