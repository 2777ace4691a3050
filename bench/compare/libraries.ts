import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { makeHandlerIdempotent } from '@aws-lambda-powertools/idempotency/middleware';
import { CreateTableCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { dynamoStore, idempotency, idempotentHttp } from 'lambda-once';
import { createOnceTable } from 'lambda-once/testing';

/** What a handler gives back; nothing, too. */
export type Answer = { readonly statusCode: number; readonly body: string } | undefined;

/** A handler that knows nothing of duplicates. */
export type Work = (event: APIGatewayProxyEventV2, context: Context) => Promise<Answer>;

/** The same, protected. It rejects where the library refuses by an error. */
export type Protected = (event: APIGatewayProxyEventV2, context: Context) => Promise<unknown>;

/** Where a library sits: around the function, or in a Middy chain. */
export type Seat = 'wrapper' | 'middy';

/** One of the two that are compared. */
export interface Library {
  readonly name: string;
  createTable(client: DynamoDBClient, tableName: string): Promise<void>;
  protect(work: Work, client: DynamoDBClient, tableName: string, seat: Seat): Protected;
}

/** Ours. A lapsed claim is taken over, as the peer does, so that the two can be compared. */
export const ours: Library = {
  name: 'lambda-once',
  createTable: (client, tableName) => createOnceTable({ client, tableName }),
  protect(work, client, tableName, seat) {
    const store = dynamoStore({ client, tableName });
    const options = {
      store,
      operation: 'order',
      scope: 'none',
      onLapse: 'rerun',
      lease: { seconds: 1 },
      skew: { milliseconds: 0 },
    } as const;
    if (seat === 'wrapper') return idempotentHttp(work as never, options) as Protected;
    return middy()
      .use(idempotency(options))
      .handler(work as never) as unknown as Protected;
  },
};

/** The peer, with a key from the header and the body checked against it, which are its own options for this. */
export const peer: Library = {
  name: 'Powertools 2.35.0',
  async createTable(client, TableName) {
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      }),
    );
  },
  protect(work, client, tableName, seat) {
    const persistenceStore = new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client });
    const config = new IdempotencyConfig({
      eventKeyJmesPath: 'headers."idempotency-key"',
      payloadValidationJmesPath: 'body',
    });
    if (seat === 'wrapper') return makeIdempotent(work, { persistenceStore, config });
    return middy()
      .use(makeHandlerIdempotent({ persistenceStore, config }) as object)
      .handler(work as never) as unknown as Protected;
  },
};

export const libraries: readonly Library[] = [peer, ours];

/** Items in a table. */
export async function itemsIn(client: DynamoDBClient, TableName: string): Promise<number> {
  const { Count = 0 } = await client.send(
    new ScanCommand({ TableName, ConsistentRead: true, Select: 'COUNT' }),
  );
  return Count;
}

/** A POST with an idempotency key, or without one. */
export function order(key: string | undefined, body = '{"amount":20}'): APIGatewayProxyEventV2 {
  return {
    version: '2.0',
    routeKey: 'POST /orders',
    rawPath: '/orders',
    rawQueryString: '',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
    requestContext: { http: { method: 'POST', path: '/orders' } },
    body,
    isBase64Encoded: false,
  } as unknown as APIGatewayProxyEventV2;
}

/** An invocation that has so many milliseconds. */
export function contextFor(milliseconds: number): Context {
  const end = Date.now() + milliseconds;
  return {
    functionName: 'orders',
    awsRequestId: crypto.randomUUID(),
    getRemainingTimeInMillis: () => Math.max(0, end - Date.now()),
  } as Context;
}
