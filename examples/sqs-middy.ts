import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import middy from '@middy/core';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { bodyKey, claimOf, dynamoStore, sqsIdempotency } from 'lambda-once';

const processor = new BatchProcessor(EventType.SQS);

async function ship(record: SQSRecord): Promise<void> {
  const headers = { 'Idempotency-Key': claimOf(record).token('book-parcel') };
  const booked = await fetch('https://carrier.example/parcels', {
    method: 'POST',
    headers,
    body: record.body,
  });
  if (!booked.ok) throw new Error(`The carrier answered ${booked.status}`);
}

// the handler stays as it is: it is handed only what must run, and its batchItemFailures say what is done
export const handler = middy((event: SQSEvent, context: Context) =>
  processPartialResponse(event, ship, processor, { context }),
).use(sqsIdempotency({ store: dynamoStore(), operation: 'ship-order', key: bodyKey('orderId') }));
