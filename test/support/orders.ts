import { randomUUID } from 'node:crypto';
import { inject, test } from 'vitest';
import type { OnceRecord } from '../../src/domain/record.ts';
import {
  type Claim,
  type FunctionOptions,
  type IdempotentFunction,
  idempotent,
  type OnceEvent,
} from '../../src/index.ts';
import { Clock } from './clock.ts';
import type { LossyProxy } from './lossy-proxy.ts';
import { engineClient, freshTable, type TestTable } from './table.ts';

/** dynalite knows no transactions: what needs one is left out there, and says so. */
export const transactional: typeof test = inject('engine').transactions ? test : (test.skip as typeof test);
if (!inject('engine').transactions)
  console.log(`${inject('engine').kind} has no transactions: tests that need one are skipped`);

export const start = 1_900_000_000_000;

interface Order {
  readonly id: string;
}

/** An operation on orders, with the table of the business beside it. */
export interface Orders {
  readonly clock: Clock;
  readonly once: TestTable;
  readonly business: TestTable;
  readonly operation: string;
  readonly events: OnceEvent[];
  /** A put of a new order, and one that only makes it once. */
  readonly put: (id: string) => { Put: { TableName: string; Item: { id: string; amount: number } } };
  readonly wrap: (
    work: (claim: Claim) => unknown,
    options?: Partial<FunctionOptions<Order, unknown>>,
  ) => IdempotentFunction<Order, unknown>;
  /** The record of the operation, beside unique and outbox items. */
  readonly record: () => Promise<OnceRecord | undefined>;
  /** How many orders the business has. */
  readonly orders: () => Promise<number>;
}

export async function orders(proxy?: LossyProxy): Promise<Orders> {
  const [once, business] = await Promise.all([freshTable(), freshTable()]);
  const clock = new Clock(start);
  const operation = `order-${randomUUID()}`;
  const events: OnceEvent[] = [];
  const client = proxy === undefined ? once.client : engineClient(proxy.endpoint);
  return {
    clock,
    once,
    business,
    operation,
    events,
    put: (id) => ({ Put: { TableName: business.tableName, Item: { id, amount: 12 } } }),
    wrap: (work, options = {}) =>
      idempotent(async (_order: Order, claim) => work(claim), {
        store: once.store({ client, now: clock.now }),
        operation,
        key: ({ id }) => id,
        lease: { seconds: 10 },
        observe: (event) => events.push(event),
        ...options,
      }),
    record: async () => (await once.records()).find(({ id }) => id.startsWith(operation)),
    orders: async () => (await business.items()).length,
  };
}
