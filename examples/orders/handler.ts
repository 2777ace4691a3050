import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from 'aws-lambda';
import { type Claim, dynamoStore, type HttpOptions, idempotentHttp } from 'lambda-once';
import { type Books, charge } from './bank.ts';

type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;
type Answer = { statusCode: number; headers?: Record<string, string>; body: string };

const client = new DynamoDBClient();
const books: Books = {
  client,
  accounts: process.env.ACCOUNTS_TABLE ?? 'accounts',
  ledger: process.env.LEDGER_TABLE ?? 'ledger',
};

/** Places an order and charges for it. Nothing in here knows about duplicates. */
async function placeOrder(event: Event, reference?: string): Promise<Answer> {
  const order = readOrder(event);
  if (order === undefined)
    return json(400, { error: 'an order is JSON: { "account": text, "amount": number }' });
  const { account, amount } = order;
  const charged = await charge(books, account, amount, reference);
  switch (charged.kind) {
    case 'charged':
      return json(201, { order: charged.id, amount }, { Location: `/orders/${charged.id}` });
    case 'declined':
      return json(402, { error: 'insufficient funds', balance: charged.balance });
    case 'unavailable':
      return json(503, { error: 'the bank is down' });
    default:
      return charged satisfies never;
  }
}

/** API Gateway encodes what it does not take for text: a form that says nothing of JSON, for one. */
function readOrder({ body = '', isBase64Encoded }: Event): { account: string; amount: number } | undefined {
  try {
    const order = JSON.parse(isBase64Encoded ? Buffer.from(body, 'base64').toString() : body);
    return typeof order.account === 'string' && typeof order.amount === 'number' ? order : undefined;
  } catch {
    return undefined;
  }
}

function json(statusCode: number, body: object, headers: Record<string, string> = {}): Answer {
  return {
    statusCode,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

const options = {
  store: dynamoStore({ client }),
  scope: (event: Event) => event.requestContext.authorizer.lambda.tenant,
  skew: { seconds: 1 },
} satisfies Partial<HttpOptions<Event, unknown, Answer>>;

/** A charge that nobody can ask about: after a crash it is held until somebody knows. */
export const holding = idempotentHttp((event: Event) => placeOrder(event), {
  ...options,
  operation: 'place-order',
});

/** The charge carries the claim's id as its reference, so running again after a crash charges nobody twice. */
export const rerunning = idempotentHttp(
  (event: Event, _context: unknown, claim: Claim) => placeOrder(event, claim.id),
  { ...options, operation: 'place-order-again', onLapse: 'rerun' },
);

/** Remembers for two seconds only, to show what a retention is. */
export const forgetful = idempotentHttp((event: Event) => placeOrder(event), {
  ...options,
  operation: 'place-order-briefly',
  retention: { seconds: 2 },
});
