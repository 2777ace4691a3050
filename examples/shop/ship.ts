import { randomUUID } from 'node:crypto';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { SQSRecord } from 'aws-lambda';
import { bodyKey, dynamoStore, idempotentSqs } from 'lambda-once';
import { emfMetrics } from 'lambda-once/metrics';

const client = new DynamoDBClient();

/** An address that the carrier does not reach: its messages become dead letters, until somebody mends this. */
const unreachable = process.env.UNREACHABLE_ADDRESS ?? 'nowhere';

/** Every run is a parcel. Nothing in here knows about duplicates. */
async function ship({ body }: SQSRecord): Promise<{ parcel: string }> {
  const { detail } = JSON.parse(body) as { detail: { id: string; address: string } };
  if (detail.address === unreachable) throw new Error('The carrier does not reach this address.');
  const parcel = randomUUID();
  const Item = { id: { S: parcel }, payment: { S: detail.id } };
  await client.send(new PutItemCommand({ TableName: process.env.PARCELS_TABLE ?? 'parcels', Item }));
  return { parcel };
}

/** On the queue of `paid` events: one parcel for each, however often it is relayed, delivered or redriven. */
export const handler = idempotentSqs(ship, {
  store: dynamoStore(),
  operation: 'ship',
  key: bodyKey('key'),
  retention: { days: 18 }, // 4 days in the queue and 14 among the dead letters
  observe: emfMetrics(),
});
