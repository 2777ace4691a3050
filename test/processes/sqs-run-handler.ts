import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { SQSRecord } from 'aws-lambda';
import {
  bodyKey,
  type Claim,
  dynamoStore,
  idempotentSqs,
  messageIdKey,
  type OnceEvent,
} from '../../src/index.ts';
import type { LambdaContext } from '../../tools/local/context.ts';
import type { Order } from './sqs-run-plan.ts';

/** What the environment of the function says. */
export type RunVariables = Record<'EFFECTS_TABLE' | 'GROUPS_TABLE' | 'SLOWNESS' | 'REPAIRED', string>;

const variables = process.env as Partial<RunVariables>;
const client = new DynamoDBClient();

/** Claims whose effect may have happened and whose outcome is not known to be stored. */
const open = new Set<string>();

/** Less than this is left: an effect begun now could be cut off by the timeout before its outcome is stored. */
const closingTime = 700;

const options = {
  store: dynamoStore(),
  skew: { milliseconds: 100 },
  onLapse: 'rerun',
  observe,
} as const;

/** The function under test. */
export const handler = idempotentSqs<SQSRecord, LambdaContext>(ship, {
  ...options,
  operation: 'ship-order',
  key: bodyKey('orderId'),
});

/** The negative control: the broker's id tells nothing of the business. */
export const byMessageId = idempotentSqs<SQSRecord, LambdaContext>(ship, {
  ...options,
  operation: 'ship-message',
  key: messageIdKey(),
});

async function ship(record: SQSRecord, context: LambdaContext, claim: Claim): Promise<void> {
  const order = JSON.parse(record.body) as Order;
  if (claim.attempt === 1 && order.fate === 'slow') await sleep(Number(variables.SLOWNESS));
  if (claim.attempt === 1 && order.fate === 'killed') await die();
  if (order.fate === 'stubborn' && variables.REPAIRED !== 'yes') throw new Error('the carrier is down');
  if (context.getRemainingTimeInMillis() < closingTime) throw new Error('too late to begin');
  open.add(claim.id);
  await take(order);
}

/** The effect: an item with a random id, which no second run can hide behind, and on FIFO its place in the group. */
async function take({ orderId, group }: Order): Promise<void> {
  const Item = { id: { S: randomUUID() }, of: { S: orderId } };
  await client.send(new PutItemCommand({ TableName: variables.EFFECTS_TABLE, Item }));
  if (group === undefined) return;
  await client.send(
    new UpdateItemCommand({
      TableName: variables.GROUPS_TABLE,
      Key: { id: { S: group } },
      UpdateExpression: 'SET happened = list_append(if_not_exists(happened, :none), :this)',
      ExpressionAttributeValues: { ':none': { L: [] }, ':this': { L: [{ S: orderId }] } },
    }),
  );
}

/**
 * Takes the whole process along, with up to nine other records in it. Not while one of them stands between its effect and
 * its outcome: under `'rerun'` that one would rightly happen twice, since its effect does not know its key.
 */
async function die(): Promise<void> {
  while (open.size > 0) await sleep(2);
  process.kill(process.pid, 'SIGKILL');
}

function observe(event: OnceEvent): void {
  if (event.type === 'completed' || event.type === 'released') open.delete(event.id);
  if (event.type === 'claimed') console.log(`claimed ${event.from}`);
  else console.log(event.type === 'refused' ? event.code : event.type);
}
