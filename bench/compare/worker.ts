import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { localClientConfig } from '../../tools/local/engine.ts';
import { contextFor, libraries, order } from './libraries.ts';

/** What a process is to do. Times in milliseconds from the start that all of them share. */
export interface Plan {
  readonly endpoint: string;
  readonly library: string;
  readonly tableName: string;
  readonly effects: string;
  readonly deliveries: readonly { readonly key: string; readonly at: number; readonly takes: number }[];
}

process.once('disconnect', () => process.exit());
process.once('message', (plan: Plan) => void play(plan));

async function play({ endpoint, library, tableName, effects, deliveries }: Plan): Promise<void> {
  const client = new DynamoDBClient(localClientConfig(endpoint));
  const chosen = libraries.find(({ name }) => name === library);
  if (chosen === undefined) throw new Error(`There is no library ${library}.`);
  let takes = 0;
  const handler = chosen.protect(
    async (event) => {
      const mine = takes;
      const Item = { id: { S: randomUUID() }, key: { S: event.headers['idempotency-key'] ?? '' } };
      await client.send(new PutItemCommand({ TableName: effects, Item }));
      await sleep(mine);
      return { statusCode: 201, body: '{}' };
    },
    client,
    tableName,
    'middy',
  );
  process.send?.('ready');
  await new Promise((resolve) => process.once('message', resolve));
  const deliver = async ({ key, at, takes: needed }: Plan['deliveries'][number]): Promise<void> => {
    await sleep(at);
    takes = needed;
    await handler(order(key), contextFor(10_000)).catch(() => {});
  };
  await Promise.all(deliveries.map(deliver));
  process.send?.('done');
}
