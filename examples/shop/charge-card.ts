import { defineEffect } from 'lambda-once';
import { charge, find, type Order } from './processor.ts';

/** The one effect outside: made by the payment, asked about by its retries and by the sweeper. */
export const chargeCard = defineEffect({
  name: 'charge-card',
  run: (order: Order, { token }) => charge(order, token),
  reconcile: async (_order, { token }) => {
    const made = await find(token);
    return made === undefined ? 'absent' : { found: made };
  },
});
