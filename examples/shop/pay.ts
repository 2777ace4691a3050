import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from 'aws-lambda';
import { dynamoStore, eventKey, idempotentHttp } from 'lambda-once';
import { emfMetrics } from 'lambda-once/metrics';
import { chargeCard } from './charge-card.ts';

type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

/** POST /payments: charges the card, then stores the payment, the answer and the event `paid` in one transaction. */
export const handler = idempotentHttp(
  async (event: Event, _context, claim) => {
    const { amount, card, address } = JSON.parse(event.body ?? '{}') as Record<string, unknown>;
    if (typeof amount !== 'number' || typeof card !== 'string' || typeof address !== 'string') {
      return { statusCode: 400, body: '{"error":"a payment is { amount, card, address }"}' };
    }
    const { chargeId } = await claim.perform(chargeCard, { amount, card });
    const id = claim.uuid('payment');
    const payment = {
      TableName: process.env.PAYMENTS_TABLE ?? 'payments',
      Item: { id, tenant: event.requestContext.authorizer.lambda.tenant, amount, chargeId },
    };
    const answer = { statusCode: 201, body: JSON.stringify({ id, chargeId, amount }) };
    const paid = { type: 'paid', detail: { id, address }, key: eventKey('ship:{id}', { id }) };
    return claim.commit(answer, [{ Put: payment }], { reference: id, outbox: [paid] });
  },
  {
    store: dynamoStore(),
    operation: 'pay',
    scope: (event) => event.requestContext.authorizer.lambda.tenant,
    onLapse: 'rerun', // all that it does outside goes through perform
    retention: { days: 7 },
    observe: emfMetrics(),
  },
);
