import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';

/** What is to be paid, and with which card. `hangs` is a test card, as processors have them: charged, but no answer comes. */
export interface Order {
  readonly amount: number;
  readonly card: string;
}

export interface Charge {
  readonly chargeId: string;
}

const client = DynamoDBDocumentClient.from(new DynamoDBClient());
const TableName = process.env.CHARGES_TABLE ?? 'charges';

/**
 * Stands for a card processor, so that the shop can be deployed without an account at one. It dedupes nothing: every call charges. Its
 * charges can be found by the reference that the caller gave.
 */
export async function charge({ amount, card }: Order, reference: string): Promise<Charge> {
  const chargeId = randomUUID();
  await client.send(new PutCommand({ TableName, Item: { reference, chargeId, amount } }));
  if (card === 'hangs') await sleep(60_000);
  return { chargeId };
}

/** The first charge of a reference. */
export async function find(reference: string): Promise<Charge | undefined> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName,
      ConsistentRead: true,
      KeyConditionExpression: '#reference = :reference',
      ExpressionAttributeNames: { '#reference': 'reference' }, // a reserved word
      ExpressionAttributeValues: { ':reference': reference },
    }),
  );
  return Items[0] as Charge | undefined;
}
