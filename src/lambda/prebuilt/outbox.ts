import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';
import { environment } from '../../names.ts';
import { outboxHandler, type Sender } from '../outbox-handler.ts';
import { eventBridgeSender, snsSender, sqsSender } from '../senders.ts';

/** The relay to the target that the environment names: what the construct `OnceOutbox` deploys by itself. */
export const handler: ReturnType<typeof outboxHandler> = outboxHandler({
  send: senderFrom(process.env),
  onFailure: (error, { operation, record }) =>
    console.error(
      JSON.stringify({ 'lambda-once': 'outbox', operation, record, error: (error as Error).name }),
    ),
});

function senderFrom(variables: NodeJS.ProcessEnv): Sender {
  const { outboxQueue, outboxTopic, outboxBus, outboxSource } = environment;
  const [queueUrl, topicArn, eventBusName] = [outboxQueue, outboxTopic, outboxBus].map(
    (name) => variables[name],
  );
  if (queueUrl !== undefined) return sqsSender({ client: new SQSClient(), queueUrl });
  if (topicArn !== undefined) return snsSender({ client: new SNSClient(), topicArn });
  if (eventBusName === undefined) throw new Error(`Set one of ${outboxQueue}, ${outboxTopic}, ${outboxBus}.`);
  const source = variables[outboxSource] ?? 'lambda-once';
  return eventBridgeSender({ client: new EventBridgeClient(), source, eventBusName });
}
