import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { bodyKey, dynamoStore, idempotentSqs } from 'lambda-once';
import { outboxHandler, sqsSender } from 'lambda-once/outbox';

/** On the table's stream, filtered on keys that begin with `#outbox#`: gives each event to the queue, at least once. */
export const relay = outboxHandler({
  send: sqsSender({ client: new SQSClient(), queueUrl: process.env.QUEUE_URL ?? '' }),
});

/** On the queue: each event has its effect once, however often it comes. */
export const consumer = idempotentSqs(
  async (record: SQSRecord, _context, claim) => {
    const { detail } = JSON.parse(record.body);
    await fetch('https://mailer.example/mails', {
      method: 'POST',
      headers: { 'Idempotency-Key': claim.token('mail') },
      body: JSON.stringify(detail),
    });
  },
  { store: dynamoStore(), operation: 'mail', key: bodyKey('key'), retention: { days: 14 } },
);
