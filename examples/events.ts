import type { EventBridgeEvent, ScheduledEvent, SNSEvent } from 'aws-lambda';
import { dynamoStore, idempotent, scheduleKey } from 'lambda-once';

interface Order {
  readonly orderId: string;
  readonly amount: number;
}

const store = dynamoStore();

/** An envelope differs on every publish: what is compared under one key is the order inside. */
const notified = (event: SNSEvent): Order => JSON.parse(event.Records[0]?.Sns.Message ?? '{}');

export const onNotification = idempotent(async (event: SNSEvent) => post('bookings', notified(event)), {
  store,
  operation: 'book-notified-order',
  key: (event) => notified(event).orderId,
  fingerprint: notified,
});

export const onOrderPlaced = idempotent(
  async ({ detail }: EventBridgeEvent<'OrderPlaced', Order>) => post('bookings', detail),
  {
    store,
    operation: 'book-placed-order',
    key: ({ detail }) => detail.orderId,
    fingerprint: ({ detail }) => detail,
  },
);

/** Two replicas of a rule, a retry and a replay by hand are one run of one night. */
export const nightly = idempotent(async ({ time }: ScheduledEvent) => post('closings', { time }), {
  store,
  operation: 'close-books',
  key: scheduleKey,
});

async function post(path: string, body: object): Promise<void> {
  const { ok, status } = await fetch(`https://books.example/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!ok) throw new Error(`The books answered ${status}`);
}
