import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from 'aws-lambda';
import { dynamoStore, eventKey, idempotentHttp, isCommitRefused } from 'lambda-once';

type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

export const handler = idempotentHttp(
  async (event: Event, _context, claim) => {
    const { account, amount, reference } = JSON.parse(event.body ?? '{}');
    const id = claim.uuid('withdrawal');
    const withdraw = {
      TableName: process.env.ACCOUNTS_TABLE ?? 'accounts',
      Key: { id: account },
      UpdateExpression: 'SET balance = balance - :amount',
      ConditionExpression: 'balance >= :amount',
      ExpressionAttributeValues: { ':amount': amount },
    };
    const answer = { statusCode: 201, body: JSON.stringify({ id, amount }) };
    const mail = {
      type: 'withdrawn',
      detail: { id, amount },
      key: eventKey('notify:withdrawal:{id}', { id }),
    };
    const options = { unique: [[account, reference]], reference: id, outbox: [mail] };
    try {
      return await claim.commit(answer, [{ Update: withdraw }], options);
    } catch (error) {
      if (!isCommitRefused(error)) throw error;
      return claim.commit({ statusCode: 402, body: '{"error":"insufficient funds"}' }, []); // an answer, too
    }
  },
  {
    store: dynamoStore(),
    operation: 'withdraw',
    scope: (event) => event.requestContext.authorizer.lambda.tenant,
    claim: 'at-commit', // its only effects are the writes of its commit
  },
);
