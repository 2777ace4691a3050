import type { SQSRecord } from 'aws-lambda';
import { bodyKey, dynamoStore, idempotentSqs } from 'lambda-once';

export const handler = idempotentSqs(
  async (record: SQSRecord, _context, claim) => {
    const booked = await fetch('https://carrier.example/parcels', {
      method: 'POST',
      headers: { 'Idempotency-Key': claim.token('book-parcel') }, // the same on every attempt
      body: record.body,
      signal: claim.signal,
    });
    if (!booked.ok) throw new Error(`The carrier answered ${booked.status}`); // this message comes again
  },
  {
    store: dynamoStore(),
    operation: 'ship-order',
    key: bodyKey('orderId'), // redelivered, redriven or sent twice: one parcel
    retention: { days: 30 },
  },
);
