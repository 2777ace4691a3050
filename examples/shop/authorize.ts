import { createHash } from 'node:crypto';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type {
  APIGatewayRequestAuthorizerEventV2,
  APIGatewaySimpleAuthorizerWithContextResult,
} from 'aws-lambda';

const client = new DynamoDBClient();

type Answer = APIGatewaySimpleAuthorizerWithContextResult<{ tenant: string }>;

/** Whose token it is. The table holds digests of tokens, each with its tenant; it begins empty, so that nobody gets in. */
export async function handler({ headers }: APIGatewayRequestAuthorizerEventV2): Promise<Answer> {
  const [, token] = /^Bearer (\S{16,200})$/.exec(headers?.authorization ?? '') ?? [];
  const tenant = token === undefined ? undefined : await tenantOf(token);
  return { isAuthorized: tenant !== undefined, context: { tenant: tenant ?? '' } };
}

async function tenantOf(token: string): Promise<string | undefined> {
  const id = createHash('sha256').update(token).digest('hex');
  const TableName = process.env.TOKENS_TABLE ?? 'tokens';
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: { id: { S: id } } }));
  return Item?.tenant?.S;
}
