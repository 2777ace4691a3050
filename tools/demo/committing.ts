import { randomUUID } from 'node:crypto';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { localClientConfig } from '../local/engine.ts';
import { toHttpEvent } from '../local/front-door.ts';
import { answerOf, compare, type Scene } from './scene.ts';

/** How many duplicates come at once, each from a process of its own; and what each takes from an account of 100. */
const duplicates = 5;
const amount = 20;

/**
 * A withdrawal whose only effect is its own transaction: nobody claims anything before it. The duplicates all run, and all but
 * one write nothing.
 */
export const committedOnce: Scene = async (world) => {
  const client = new DynamoDBClient(localClientConfig(world.engine.endpoint));
  const [once, accounts] = await Promise.all([world.createOnceTable(), world.createOnceTable()]);
  const withdraw = world.start('commit.ts', 'handler', { LAMBDA_ONCE_TABLE: once, ACCOUNTS_TABLE: accounts });
  const account = { id: { S: randomUUID() } };
  await client.send(new PutItemCommand({ TableName: accounts, Item: { ...account, balance: { N: '100' } } }));
  const event = toHttpEvent({
    method: 'POST',
    path: '/withdrawals',
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({ account: account.id.S, amount, reference: 'ext-9' }),
    tenant: 'acme',
  });
  await withdraw.prewarm(duplicates);
  const results = await Promise.all(Array.from({ length: duplicates }, () => withdraw.invoke(event)));
  const { Item } = await client.send(
    new GetItemCommand({ TableName: accounts, Key: account, ConsistentRead: true }),
  );
  await withdraw.stop();
  client.destroy();
  const answers = new Map<string, number>();
  for (const answer of results.map(answerOf)) answers.set(answer, (answers.get(answer) ?? 0) + 1);
  const effects = (100 - Number(Item?.balance?.N)) / amount;
  const title = `${duplicates} at once, no claim before the commit`;
  return compare(
    { title, sent: duplicates, effects, answers },
    { effects: 1, answers: { 201: 1, '201 replayed': duplicates - 1 } },
  );
};
