import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from 'aws-lambda';
import { dynamoStore } from 'lambda-once';
import { statusHandler } from 'lambda-once/status';

type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

/** GET /withdrawals?key=… or /withdrawals?account=…&reference=… */
export const handler = statusHandler<Event>({
  store: dynamoStore(),
  operation: 'withdraw',
  scope: (event) => event.requestContext.authorizer.lambda.tenant, // the operation's own
  unique: ({ queryStringParameters: { account, reference } = {} }) =>
    account === undefined || reference === undefined ? undefined : [account, reference],
});
