import middy from '@middy/core';
import cors from '@middy/http-cors';
import httpErrorHandler from '@middy/http-error-handler';
import type { APIGatewayProxyEventV2WithLambdaAuthorizer, Context } from 'aws-lambda';
import { claimOf, dynamoStore, idempotency } from 'lambda-once';

type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

const store = dynamoStore();
const tenantOf = (event: Event): string => event.requestContext.authorizer.lambda.tenant;

// guards above, response shapers below: what is stored is the answer as the shapers left it
export const handler = middy<Event, { statusCode: number; body: string }, Error, Context>()
  .use(idempotency({ store, operation: 'place-order', scope: tenantOf }))
  .use(cors({ origin: 'https://shop.example', exposeHeaders: 'Idempotency-Replayed' }))
  .use(httpErrorHandler({ logger: false }))
  .handler(async (event, context) => {
    const { attempt } = claimOf(context);
    return { statusCode: 201, body: JSON.stringify({ order: JSON.parse(event.body ?? '{}'), attempt }) };
  });
