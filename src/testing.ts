import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateTableCommand, UpdateTimeToLiveCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { attribute, sweepIndex } from './names.ts';

export { type MemoryStoreOptions, memoryStore } from './store/memory.ts';

/** Options of {@link createOnceTable}. */
export interface CreateOnceTableOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/**
 * The table as the CDK construct makes it, on any engine: on-demand, partition key `id`, the sparse index that a sweep reads,
 * TTL on `expiresAt` where the engine knows TTL. Resolves when the table can be used; a table of that name that exists already is left as it is.
 */
export async function createOnceTable({ client, tableName }: CreateOnceTableOptions): Promise<void> {
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: attribute.id, AttributeType: 'S' },
          { AttributeName: attribute.sweep, AttributeType: 'S' },
          { AttributeName: attribute.dueAt, AttributeType: 'N' },
        ],
        KeySchema: [{ AttributeName: attribute.id, KeyType: 'HASH' }],
        GlobalSecondaryIndexes: [
          {
            IndexName: sweepIndex.name,
            KeySchema: [
              { AttributeName: attribute.sweep, KeyType: 'HASH' },
              { AttributeName: attribute.dueAt, KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        ],
      }),
    );
  } catch (error) {
    if ((error as { name?: string }).name !== 'ResourceInUseException') throw error;
  }
  await waitUntilTableExists(
    { client, minDelay: 0.02, maxDelay: 0.2, maxWaitTime: 20 },
    { TableName: tableName },
  );
  await enableExpiry(client, tableName);
}

/** dynalite has no TTL; nothing here depends on it, since every read judges `expiresAt` itself. */
async function enableExpiry(client: DynamoDBClient, tableName: string): Promise<void> {
  const TimeToLiveSpecification = { AttributeName: attribute.expiresAt, Enabled: true };
  try {
    await client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification }));
  } catch (error) {
    const { name } = error as { name?: string };
    if (name !== 'UnknownOperationException' && name !== 'ValidationException') throw error;
  }
}
