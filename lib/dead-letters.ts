import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** What SQS keeps at the most: whoever looks has two weeks. */
const longestRetention: Duration = Duration.days(14);

/** A queue for what could not be done: encrypted, over TLS only. */
export function deadLetterQueue(
  scope: Construct,
  id: string,
  { fifo = false, retention = longestRetention }: { fifo?: boolean; retention?: Duration } = {},
): Queue {
  return new Queue(scope, id, {
    retentionPeriod: retention,
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    ...(fifo && { fifo }),
  });
}
