import { randomUUID } from 'node:crypto';
import { DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { inject } from 'vitest';
import type { OnceRecord } from '../../src/domain/record.ts';
import { type DynamoStoreOptions, dynamoStore, type Store } from '../../src/index.ts';
import { type Item, toItem, toRecord } from '../../src/store/dynamo/item.ts';
import { createOnceTable } from '../../src/testing.ts';

/** A table of a test's own, with a look into it that does not go through the code under test. */
export interface TestTable {
  readonly tableName: string;
  readonly client: DynamoDBClient;
  /** A store on this table. */
  store(options?: Omit<DynamoStoreOptions, 'tableName'>): Store;
  items(): Promise<Item[]>;
  item(id: string): Promise<Item | undefined>;
  records(): Promise<OnceRecord[]>;
  put(record: OnceRecord): Promise<void>;
}

/** A client for the engine of this run. */
export function engineClient(endpoint: string = inject('engine').endpoint): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}

/** Makes a table with a name nobody else has. */
export async function freshTable(client: DynamoDBClient = engineClient()): Promise<TestTable> {
  const tableName = `once-${randomUUID()}`;
  await createOnceTable({ client, tableName });
  const items = async (): Promise<Item[]> =>
    (await client.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }))).Items ?? [];
  return {
    tableName,
    client,
    store: (options = {}) => dynamoStore({ client, ...options, tableName }),
    items,
    item: async (id) =>
      (
        await client.send(
          new GetItemCommand({ TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true }),
        )
      ).Item,
    records: async () => (await items()).map((item) => toRecord(item) as OnceRecord),
    put: async (record) => {
      await client.send(new PutItemCommand({ TableName: tableName, Item: toItem(record) }));
    },
  };
}
