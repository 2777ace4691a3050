import { SQSClient } from '@aws-sdk/client-sqs';
import { outboxHandler, sqsSender } from '../../src/outbox.ts';
import { localClientConfig } from '../../tools/local/engine.ts';

/** A relay: what it is to send where, and whether it dies between a send and its answer. */
export interface RelayOrder {
  readonly queues: string;
  readonly queueUrl: string;
  readonly event: { readonly Records: readonly object[] };
  readonly dies: boolean;
}

process.on('message', ({ queues, queueUrl, event, dies }: RelayOrder) => {
  const send = sqsSender({ client: new SQSClient(localClientConfig(queues)), queueUrl });
  const relay = outboxHandler({
    send: async (each) => {
      await send(each);
      if (!dies) return;
      process.send?.({ sent: true });
      await new Promise(() => {});
    },
  });
  void relay(event as never).then((answer) => process.send?.({ answer }));
});
