import { idempotent, type Store } from 'lambda-once';

/** A connection with a transaction open, such as one of `pg`. Not run against a real server here: see its test. */
export interface Transaction {
  query<Row>(sql: string, values: readonly unknown[]): Promise<{ rows: Row[]; rowCount: number }>;
}

/** Runs work in one transaction: commits what returns, rolls back what throws. */
export type Transact = <Result>(work: (transaction: Transaction) => Promise<Result>) => Promise<Result>;

interface Order {
  readonly id: string;
  readonly total: number;
}
interface Placed {
  readonly order_id: string;
  readonly total: number;
}

/**
 * The business lives in PostgreSQL, so that is the authority: the token is a unique column of the row that the order is, written in
 * the same transaction. A second run, after a crash between the two stores, finds its own row. What DynamoDB keeps is the answer.
 */
export const orders = (store: Store, transact: Transact) =>
  idempotent(
    async (order: Order, claim) =>
      transact(async (transaction) => {
        const token = claim.token('order');
        const { rows } = await transaction.query<Placed>(
          'INSERT INTO orders (order_id, total, token) VALUES ($1, $2, $3) ON CONFLICT (token) DO NOTHING RETURNING order_id, total',
          [order.id, order.total, token],
        );
        if (rows[0] !== undefined) return rows[0];
        const before = 'SELECT order_id, total FROM orders WHERE token = $1';
        const { rows: found } = await transaction.query<Placed>(before, [token]);
        return found[0] as Placed;
      }),
    { store, operation: 'place-order', key: (order) => order.id, lease: { minutes: 1 }, onLapse: 'rerun' },
  );

/** A consumer's check inside its own transaction: the event's key and what follows from it are written together, or neither is. */
export const consume = (transact: Transact, event: { readonly key: string; readonly amount: number }) =>
  transact(async (transaction) => {
    const seen = 'INSERT INTO consumed (key) VALUES ($1) ON CONFLICT (key) DO NOTHING';
    if ((await transaction.query(seen, [event.key])).rowCount === 0) return 'seen before';
    await transaction.query('UPDATE totals SET amount = amount + $1', [event.amount]);
    return 'counted';
  });
