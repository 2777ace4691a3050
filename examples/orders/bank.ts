import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';

/** How a charge ended. */
export type Charge =
  | { readonly kind: 'charged'; readonly id: string }
  | { readonly kind: 'declined'; readonly balance: number }
  | { readonly kind: 'unavailable' };

/** What an account can be told to do, to play the troubles of a real bank. */
export type Temper = 'well' | 'slow' | 'down' | 'hangs';

/** The tables that a bank keeps its books in. */
export interface Books {
  readonly client: DynamoDBClient;
  readonly accounts: string;
  /** One item per charge: the effects that the demo counts. */
  readonly ledger: string;
}

/**
 * A bank like any other: every call of `charge` charges. Only with a `reference` of the caller's own is a charge made
 * once, because that is the ledger's primary key.
 */
export async function charge(
  { client, accounts, ledger }: Books,
  account: string,
  amount: number,
  reference: string = randomUUID(),
): Promise<Charge> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: accounts, Key: { id: { S: account } }, ConsistentRead: true }),
  );
  const [balance, temper] = [Number(Item?.balance?.N ?? 0), (Item?.temper?.S ?? 'well') as Temper];
  if (temper === 'down') return { kind: 'unavailable' };
  if (balance < amount) return { kind: 'declined', balance };
  await client.send(
    new PutItemCommand({
      TableName: ledger,
      Item: { id: { S: reference }, account: { S: account }, amount: { N: String(amount) } },
    }),
  );
  // the money has moved; the answer is still on its way
  if (temper === 'slow') await sleep(400);
  if (temper === 'hangs') await sleep(60_000);
  return { kind: 'charged', id: reference };
}

/** Opens an account, tops it up, or changes its temper. */
export async function setAccount(
  { client, accounts }: Books,
  account: string,
  balance: number,
  temper: Temper = 'well',
): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: accounts,
      Key: { id: { S: account } },
      UpdateExpression: 'SET balance = :balance, temper = :temper',
      ExpressionAttributeValues: { ':balance': { N: String(balance) }, ':temper': { S: temper } },
    }),
  );
}
