import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  CreateTableCommand,
  DynamoDBClient,
  ScanCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { createOnceTable } from 'lambda-once/testing';
import { type Books, setAccount, type Temper } from '../../examples/orders/bank.ts';
import { type Engine, localClientConfig, startEngine } from '../local/engine.ts';
import { type LambdaFunction, startFunction } from '../local/runtime-api.ts';

/** Names of the examples' handlers: those of `orders`, and the one of `shipping`. */
export type Handler = 'holding' | 'rerunning' | 'forgetful' | 'shipping';

/** Everything the story plays in: an engine, tables, and functions in processes of their own. */
export interface World {
  readonly engine: Engine;
  function(handler: Handler): LambdaFunction;
  /** Starts a function of an example, with variables of its own. It ends with the world, if not before. */
  start(file: string, handlerName: string, environment: Readonly<Record<string, string>>): LambdaFunction;
  /** A table of its own for a scene whose sweeper must not settle what others left. */
  createOnceTable(): Promise<string>;
  setAccount(account: string, balance: number, temper?: Temper): Promise<void>;
  /** How often an account was charged: the effects that must not happen twice. */
  chargesOf(account: string): Promise<number>;
  /** How many parcels an order became. */
  parcelsOf(orderId: string): Promise<number>;
  /** What the functions wrote to their logs so far. */
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

const tables = { once: 'once', accounts: 'accounts', ledger: 'ledger', parcels: 'parcels' };

/** Milliseconds; short, so that a crash is settled while somebody watches. */
const functionTimeout = 3000;

/** Starts it all. Whatever happens afterwards, `stop` ends every process that was started. */
export async function startWorld({ timeout = functionTimeout }: { timeout?: number } = {}): Promise<World> {
  const engine = await startEngine();
  const client = new DynamoDBClient(localClientConfig(engine.endpoint));
  const books: Books = { client, accounts: tables.accounts, ledger: tables.ledger };
  await createOnceTable({ client, tableName: tables.once });
  await Promise.all(
    [tables.accounts, tables.ledger, tables.parcels].map((name) => createTable(client, name)),
  );
  const lines: string[] = [];
  const countOf = async (table: string, name: string, value: string): Promise<number> => {
    const { Count } = await client.send(
      new ScanCommand({
        TableName: table,
        ConsistentRead: true,
        FilterExpression: '#name = :value',
        ExpressionAttributeNames: { '#name': name },
        ExpressionAttributeValues: { ':value': { S: value } },
      }),
    );
    return Count ?? 0;
  };
  const named = new Map<Handler, LambdaFunction>();
  const launched: LambdaFunction[] = [];
  const launch: World['start'] = (file, handlerName, environment) => {
    const running = startFunction({
      file: fileURLToPath(new URL(`../../examples/${file}`, import.meta.url)),
      handlerName,
      name: `${file.replace(/(\/handler)?\.ts$/, '')}-${handlerName}`,
      timeout,
      log: (line) => lines.push(line),
      environment: {
        AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        ...environment,
      },
    });
    launched.push(running);
    return running;
  };
  return {
    engine,
    function: (handler) => {
      const running = named.get(handler) ?? start(handler, launch);
      named.set(handler, running);
      return running;
    },
    start: launch,
    createOnceTable: async () => {
      const tableName = `once-${randomUUID()}`;
      await createOnceTable({ client, tableName });
      return tableName;
    },
    setAccount: (account, balance, temper) => setAccount(books, account, balance, temper),
    chargesOf: (account) => countOf(tables.ledger, 'account', account),
    parcelsOf: (orderId) => countOf(tables.parcels, 'orderId', orderId),
    lines,
    stop: async () => {
      await Promise.all(launched.map((running) => running.stop()));
      client.destroy();
      await engine.stop();
    },
  };
}

function start(handler: Handler, launch: World['start']): LambdaFunction {
  const [example, handlerName] = handler === 'shipping' ? ['shipping', 'handler'] : ['orders', handler];
  return launch(`${example}/handler.ts`, handlerName, {
    LAMBDA_ONCE_TABLE: tables.once,
    ACCOUNTS_TABLE: tables.accounts,
    LEDGER_TABLE: tables.ledger,
    PARCELS_TABLE: tables.parcels,
  });
}

async function createTable(client: DynamoDBClient, name: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  await waitUntilTableExists({ client, minDelay: 0.02, maxDelay: 0.2, maxWaitTime: 20 }, { TableName: name });
}
