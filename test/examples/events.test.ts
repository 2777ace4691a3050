import type { EventBridgeEvent, ScheduledEvent, SNSEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { contextWith } from '../support/http.ts';
import { deploy, outside } from './support.ts';

const order = { orderId: 'o1', amount: 5 };

const notification = (id: string, message: object): SNSEvent => {
  const Sns = {
    MessageId: id,
    Timestamp: `at ${id}`,
    Signature: `signed ${id}`,
    Message: JSON.stringify(message),
  };
  return { Records: [{ EventSource: 'aws:sns', Sns }] } as SNSEvent;
};

const placed = (id: string, detail: typeof order): EventBridgeEvent<'OrderPlaced', typeof order> => ({
  id,
  version: '0',
  account: '1',
  time: `at ${id}`,
  region: 'eu-central-1',
  resources: [],
  source: 'shop',
  'detail-type': 'OrderPlaced',
  detail,
});

const tick = (id: string, time: string, rule = 'nightly'): ScheduledEvent => ({
  ...placed(id, order),
  source: 'aws.events',
  'detail-type': 'Scheduled Event',
  resources: [`arn:aws:events:eu-central-1:1:rule/${rule}`],
  time,
  detail: {},
});

test('examples/events.ts: a notification that is published again books nothing; another order under its id is refused', async () => {
  await deploy();
  const { sent } = outside();
  const { onNotification } = await import('../../examples/events.ts');
  await onNotification(notification('1', order), contextWith());
  await onNotification(notification('2', { amount: 5, orderId: 'o1' }), contextWith());
  await expect(onNotification(notification('3', { ...order, amount: 6 }))).rejects.toMatchObject({
    code: 'key-reused',
  });
  await expect(onNotification(notification('4', { amount: 6 }))).rejects.toMatchObject({
    code: 'key-missing',
  });
  await expect(onNotification({ Records: [] })).rejects.toMatchObject({ code: 'key-missing' });
  expect(sent).toMatchObject([{ url: 'https://books.example/bookings', body: order }]);
});

test('examples/events.ts: so does an event of EventBridge; a failure is free to be tried again', async () => {
  await deploy();
  const { sent, repair } = outside('o1');
  const { onOrderPlaced } = await import('../../examples/events.ts');
  await expect(onOrderPlaced(placed('1', order), contextWith())).rejects.toThrow('The books answered 503');
  repair();
  await onOrderPlaced(placed('1', order), contextWith());
  await onOrderPlaced(placed('2', order), contextWith());
  expect(sent).toHaveLength(1);
});

test('examples/events.ts: replicas, retries and replays of one night are one run; each night and each rule its own', async () => {
  await deploy();
  const { sent } = outside();
  const { nightly } = await import('../../examples/events.ts');
  const night = '2026-03-01T00:00:00Z';
  await nightly(tick('1', night), contextWith());
  await nightly(tick('1', night), contextWith());
  await nightly(tick('by hand', night));
  expect(sent).toEqual([{ url: 'https://books.example/closings', key: undefined, body: { time: night } }]);
  await nightly(tick('2', '2026-03-02T00:00:00Z'), contextWith());
  await nightly(tick('3', night, 'weekly'), contextWith());
  expect(sent).toHaveLength(3);
  await expect(nightly(placed('4', order) as never)).rejects.toMatchObject({ code: 'key-missing' });
});
