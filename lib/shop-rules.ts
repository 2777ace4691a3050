import { type CfnElement, Stack, Validations } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import type { OnceTable } from './once-table.ts';

/** What rules of cdk-nag are about, in the shop. */
export interface ShopParts {
  readonly functions: readonly LambdaFunction[];
  readonly deadLetters: readonly Queue[];
  readonly once: OnceTable;
  readonly sweep: LambdaFunction;
  readonly ship: LambdaFunction;
}

/** The rules of cdk-nag that the shop does not follow, each with its reason. */
export function acknowledgeRules({ functions, deadLetters, once, sweep, ship }: ShopParts): void {
  for (const fn of functions) {
    acknowledge(fn, {
      'AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]':
        'The managed policy writes logs and nothing else.',
      'Serverless::Serverless-LambdaDLQ':
        'Called synchronously, or its failures go to the dead-letter queue of the stream, the queue or the schedule.',
      'Serverless::Serverless-LambdaTracing':
        'Each decision is a line in the log and a metric; tracing is the user’s choice and has its price.',
    });
  }
  for (const queue of deadLetters) {
    acknowledge(queue, {
      'AwsSolutions::AwsSolutions-SQS3': 'It is a dead-letter queue.',
      'Serverless::Serverless-SQSRedrivePolicy': 'It is a dead-letter queue.',
    });
  }
  acknowledge(ship, {
    'Serverless::Serverless-LambdaEventSourceMappingDestination':
      'A queue has no on-failure destination; failed messages become dead letters by its redrive policy.',
  });
  const stack = Stack.of(once);
  acknowledge(stack, {
    [`AwsSolutions::AwsSolutions-IAM5[Resource::<${logicalId(once.table)}.Arn>/stream/*]`]:
      'ListStreams takes no narrower resource; reading is granted on the one stream.',
    [`AwsSolutions::AwsSolutions-IAM5[Resource::<${logicalId(sweep)}.Arn>:*]`]:
      'The schedule’s role may invoke any version of the one function.',
  });
}

function logicalId({ node: { defaultChild } }: IConstruct): string {
  const resource = defaultChild as CfnElement;
  return resource.stack.getLogicalId(resource);
}

function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  const rules = Object.entries(reasons).map(([id, reason]) => ({ id, reason }));
  Validations.of(construct).acknowledge(...rules);
}
