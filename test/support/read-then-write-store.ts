import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { apply, permits, type Transition, targetOf } from '../../src/domain/transition.ts';
import { dynamoStore, type Store } from '../../src/index.ts';
import { toItem } from '../../src/store/dynamo/item.ts';
import type { Written } from '../../src/store/store.ts';

/**
 * Wrong on purpose: it reads, decides by the right rules, and then writes without a condition, as a check followed by
 * a plain put would. Between the two somebody else decides the same. The negative control of the storm: a test that
 * this store passes would prove nothing.
 */
export function readThenWriteStore({
  client,
  tableName,
}: {
  client: DynamoDBClient;
  tableName: string;
}): Store {
  const right = dynamoStore({ client, tableName });
  return {
    ...right,
    async write(transition: Transition): Promise<Written> {
      const record = await right.read(targetOf(transition), { budget: 5000 });
      if (!permits(transition, record)) return { kind: 'refused', record };
      const Item = toItem(apply(transition, record));
      await client.send(new PutItemCommand({ TableName: tableName, Item }));
      return { kind: 'applied' };
    },
  };
}
