import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from 'aws-lambda';
import { dynamoStore } from 'lambda-once';
import { statusHandler } from 'lambda-once/status';

type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

/** GET /payments?key=…: did it happen? */
export const handler = statusHandler<Event>({
  store: dynamoStore(),
  operation: 'pay',
  scope: (event) => event.requestContext.authorizer.lambda.tenant, // the operation's own
});
