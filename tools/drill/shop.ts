import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  type Claim,
  defineEffect,
  dynamoStore,
  type Effect,
  type HttpEvent,
  idempotentHttp,
  type Store,
} from 'lambda-once';
import { payments } from '../../examples/payments/client.ts';
import type { Charge } from '../../examples/payments/ledger.ts';
import { localClientConfig } from '../local/engine.ts';
import { toHttpEvent } from '../local/front-door.ts';

/** What the provider does about idempotency keys. */
export type Keys = 'merged' | 'ignored';

/** One order, and where it is paid: all that a process needs to know. It goes over IPC. */
export interface Order {
  readonly endpoint: string;
  readonly tableName: string;
  readonly providerUrl: string;
  readonly keys: Keys;
  readonly operation: string;
  /** What the provider does to the charge, see `examples/payments/faults.ts`. */
  readonly fault?: string | undefined;
  /** Charges without the journal: the negative control, which a drill must find out. */
  readonly naive?: boolean | undefined;
}

/** How an order was answered. */
export interface Answer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Milliseconds, short, so that a crash is settled while somebody watches. */
export const lease = 900;
export const skew = 50;
/** Longer than a charge is ever on its way here. A provider that merges by token needs none. */
export const settling: Readonly<Record<Keys, number>> = { merged: 0, ignored: 500 };
export const onTheWay = 250;

/** The charge that a shop makes, as the handler and the sweeper share it. */
export function chargeCard({
  providerUrl,
  keys,
  operation,
  fault,
}: Order): Effect<{ amount: number }, Charge> {
  const headers = fault === undefined ? {} : { 'x-fault': fault };
  const charging = payments({ url: providerUrl, timeout: 20_000, headers });
  const asking = payments({ url: providerUrl, timeout: 2000 });
  return defineEffect({
    name: `charge-${operation}`,
    run: ({ amount }: { amount: number }, { token, signal }) =>
      charging.charge({ amount, currency: 'EUR' }, { idempotencyKey: token, signal }),
    reconcile: async (_input, { token, signal }) => {
      const charge = await asking.find(token, { signal });
      return charge === undefined ? 'absent' : { found: charge };
    },
    settleAfter: { milliseconds: settling[keys] },
  });
}

/** The store of an order's table. */
export function storeOf({ endpoint, tableName }: Order): Store {
  return dynamoStore({
    tableName,
    client: new DynamoDBClient({ ...localClientConfig(endpoint), maxAttempts: 3 }),
  });
}

/** A shop that pays orders, each once. */
export function shop(
  order: Order,
  store: Store,
  charge: Effect<{ amount: number }, Charge>,
): () => Promise<Answer> {
  const handler = idempotentHttp(
    async (event: HttpEvent, _context: unknown, claim) => {
      const { amount } = JSON.parse(String(event.body)) as { amount: number };
      const { chargeId } =
        order.naive === true ? await bare(charge, amount, claim) : await claim.perform(charge, { amount });
      return { statusCode: 201, body: JSON.stringify({ chargeId }) };
    },
    {
      store,
      operation: order.operation,
      scope: 'none',
      lease: { milliseconds: lease },
      skew: { milliseconds: skew },
      onLapse: 'rerun',
    },
  );
  const event = toHttpEvent({
    method: 'POST',
    path: '/payments',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'order-1' },
    body: JSON.stringify({ amount: 1200 }),
  });
  return async () => (await handler(event as HttpEvent, undefined)) as Answer;
}

/** As one would without `perform`. */
async function bare(
  charge: Effect<{ amount: number }, Charge>,
  amount: number,
  claim: Claim,
): Promise<Charge> {
  const { fence, attempt, signal } = claim;
  const reference = async (): Promise<void> => {};
  return charge.run(
    { amount },
    { token: claim.token('charge'), index: undefined, fence, attempt, signal, reference },
  );
}

/** Which record an order is, for `store.lookup`. */
export const identity = (operation: string) => ({ operation, scope: 'none', key: 'order-1' }) as const;
