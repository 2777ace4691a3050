import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from 'aws-lambda';
import { defineEffect, dynamoStore, idempotentHttp } from 'lambda-once';
import { sweepHandler } from 'lambda-once/sweeper';
import { payments } from './payments/client.ts';

type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;
type Order = { amount: number; currency: string };

const provider = payments({ url: process.env.PAYMENTS_URL ?? 'http://127.0.0.1:4000' });
const store = dynamoStore();

export const chargeCard = defineEffect({
  name: 'charge-card',
  run: (order: Order, { token, signal }) => provider.charge(order, { idempotencyKey: token, signal }),
  reconcile: async (_order, { token, signal }) => {
    const charge = await provider.find(token, { signal });
    return charge === undefined ? 'absent' : { found: charge };
  },
});

export const handler = idempotentHttp(
  async (event: Event, _context, claim) => {
    const { amount, currency } = JSON.parse(event.body ?? '{}');
    const { chargeId } = await claim.perform(chargeCard, { amount, currency });
    return { statusCode: 201, body: JSON.stringify({ chargeId, amount }) };
  },
  {
    store,
    operation: 'pay-order',
    scope: (event) => event.requestContext.authorizer.lambda.tenant,
    onLapse: 'rerun', // all that it does outside goes through perform
  },
);

/** On a schedule: asks the provider about charges that a crash left open, and frees their orders. */
export const sweep = sweepHandler({ store, effects: [chargeCard] });
