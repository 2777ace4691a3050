import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from 'aws-lambda';
import { dynamoStore, idempotentHttp } from 'lambda-once';

type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

export const handler = idempotentHttp(
  async (event: Event) => {
    const { sku, amount } = JSON.parse(event.body ?? '{}');
    const id = randomUUID(); // on a retry, the first one comes back
    return {
      statusCode: 201,
      headers: { Location: `/orders/${id}` },
      body: JSON.stringify({ id, sku, amount }),
    };
  },
  {
    store: dynamoStore(), // the table named by LAMBDA_ONCE_TABLE
    operation: 'place-order',
    scope: (event) => event.requestContext.authorizer.lambda.tenant,
  },
);
