import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamoStore, type HttpEvent, idempotentHttp } from '../../src/index.ts';
import { localClientConfig } from '../../tools/local/engine.ts';
import { contextWith, fronts } from '../support/http.ts';
import { readThenWriteStore } from '../support/read-then-write-store.ts';

/** What a worker of the storm is told. */
export interface StormOrder {
  readonly endpoint: string;
  readonly store: 'real' | 'read-then-write';
  readonly tableName: string;
  readonly effectsTable: string;
  readonly keys: readonly string[];
  /** How often this worker delivers each key. */
  readonly duplicates: number;
}

/** How one caller fared: every status it got, and the last answer. */
export interface StormCaller {
  readonly key: string;
  readonly statuses: readonly number[];
  readonly body: string;
  readonly isReplay: boolean;
}

type Answer = { statusCode: number; headers?: Record<string, string>; body: string };

process.once('message', (order: StormOrder) => {
  const client = new DynamoDBClient(localClientConfig(order.endpoint));
  const deliver = handlerOf(order, client);
  process.once('message', () => void storm(order, deliver).then((callers) => process.send?.({ callers })));
  process.send?.({ ready: true });
});

/** The effect is an item with a random id: a second run cannot hide behind the first one's. */
function handlerOf(order: StormOrder, client: DynamoDBClient): (key: string) => Promise<Answer> {
  const { tableName, effectsTable } = order;
  const store =
    order.store === 'real' ? dynamoStore({ client, tableName }) : readThenWriteStore({ client, tableName });
  const handler = idempotentHttp(
    async (_event: HttpEvent, _context: unknown, claim) => {
      const effect = randomUUID();
      const Item = { id: { S: effect }, of: { S: claim.key } };
      await client.send(new PutItemCommand({ TableName: effectsTable, Item }));
      return { statusCode: 201, body: effect };
    },
    { store, operation: 'storm', scope: 'none' },
  );
  return (key) => handler(fronts.v2({ key, body: { key } }), contextWith()) as Promise<Answer>;
}

/** How many callers a worker has at a time. More only queue up for the SDK's 50 sockets. */
const crowd = 50;

/** The same keys in the same order as the other workers, so that they meet. */
async function storm(
  { keys, duplicates }: StormOrder,
  deliver: (key: string) => Promise<Answer>,
): Promise<StormCaller[]> {
  const callers: StormCaller[] = [];
  const waiting = keys.flatMap((key) => Array<string>(duplicates).fill(key)).values();
  const one = async (): Promise<void> => {
    for (const key of waiting) callers.push(await untilAnswered(key, deliver));
  };
  await Promise.all(Array.from({ length: crowd }, one));
  return callers;
}

/** As a client does that is told to come back; sooner than `Retry-After` says, to make it harder. */
async function untilAnswered(key: string, deliver: (key: string) => Promise<Answer>): Promise<StormCaller> {
  const statuses: number[] = [];
  for (;;) {
    const { statusCode, headers, body } = await deliver(key);
    statuses.push(statusCode);
    // 503: this machine was too slow for the call's budget; told to come back as well
    if ((statusCode !== 409 && statusCode !== 503) || statuses.length > 200) {
      return { key, statuses, body, isReplay: headers?.['Idempotency-Replayed'] === 'true' };
    }
    await sleep(10 + Math.random() * 40);
  }
}
