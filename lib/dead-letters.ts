import { Duration, Stack } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/**
 * A queue for what a function could not do: encrypted, over TLS only, for two weeks, which is the longest that SQS keeps anything. It is in
 * the function's stack, since the function may send to it: elsewhere two stacks would depend on one another.
 */
export function deadLettersOf(construct: Construct, fn: LambdaFunction): Queue {
  const isAtHome = Stack.of(construct) === Stack.of(fn);
  return new Queue(isAtHome ? construct : fn, isAtHome ? 'DeadLetters' : `${construct.node.id}DeadLetters`, {
    retentionPeriod: Duration.days(14),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
  });
}
