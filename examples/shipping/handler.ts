import { randomUUID } from 'node:crypto';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { SQSRecord } from 'aws-lambda';
import { bodyKey, dynamoStore, idempotentSqs } from 'lambda-once';

const client = new DynamoDBClient();

/** Ships an order with a carrier like any other: every booking is a parcel. Nothing in here knows about duplicates. */
async function ship(record: SQSRecord): Promise<{ parcel: string }> {
  const { orderId } = JSON.parse(record.body) as { orderId: string };
  const parcel = randomUUID();
  await client.send(
    new PutItemCommand({
      TableName: process.env.PARCELS_TABLE ?? 'parcels',
      Item: { id: { S: parcel }, orderId: { S: orderId } },
    }),
  );
  return { parcel };
}

/** Consumes a queue whose event source mapping has `ReportBatchItemFailures`. Every decision is a line in the log. */
export const handler = idempotentSqs(ship, {
  store: dynamoStore({ client }),
  operation: 'ship-order',
  key: bodyKey('orderId'),
  observe: (event) => console.log(JSON.stringify(event)),
});
