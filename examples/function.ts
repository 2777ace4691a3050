import { idempotent, type Store } from 'lambda-once';

interface Order {
  readonly id: string;
  readonly total: number;
}

interface Mailer {
  send(order: Order): Promise<{ messageId: string }>;
}

/** Sends an order's invoice once, whoever calls and however often. */
export const invoicing = (store: Store, mailer: Mailer) =>
  idempotent(async (order: Order) => mailer.send(order), {
    store,
    operation: 'send-invoice',
    key: (order) => order.id,
    retention: { days: 7 },
    lease: { minutes: 1 },
  });
