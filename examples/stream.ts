import type { DynamoDBRecord } from 'aws-lambda';
import { dynamoStore, idempotentStream, imageKey } from 'lambda-once';

/** Tells the search of each version of a product once, however often the shard is read again. */
export const handler = idempotentStream(
  async ({ dynamodb }: DynamoDBRecord) => {
    const product = { id: dynamodb?.NewImage?.id?.S, name: dynamodb?.NewImage?.name?.S };
    const told = await fetch('https://search.example/products', {
      method: 'POST',
      body: JSON.stringify(product),
    });
    if (!told.ok) throw new Error(`The search answered ${told.status}`); // the shard is read again from here
  },
  { store: dynamoStore(), operation: 'index-product', key: imageKey('id', 'version') },
);
