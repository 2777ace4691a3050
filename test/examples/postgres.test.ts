import { expect, test } from 'vitest';
import { consume, orders, type Transact } from '../../examples/postgres.ts';
import { memoryStore } from '../../src/testing.ts';
import { Clock } from '../support/clock.ts';

/**
 * Not a PostgreSQL: tables with unique columns, transactions that are rolled back as a whole, and the very statements of the
 * example. It shows the order of things, not the server's behaviour.
 */
function database() {
  let state = {
    orders: [] as { order_id: string; total: number; token: string }[],
    consumed: [] as string[],
    amount: 0,
  };
  let failsAfter = Number.POSITIVE_INFINITY;
  const transact: Transact = async (work) => {
    const copy = structuredClone(state);
    const query = async (sql: string, values: readonly unknown[]) => {
      failsAfter -= 1;
      if (failsAfter < 0) throw new Error('connection lost');
      const rows = statement(copy, sql, values);
      return { rows: rows as never[], rowCount: rows.length };
    };
    const result = await work({ query });
    state = copy;
    return result;
  };
  const failAfter = (queries: number): void => {
    failsAfter = queries;
  };
  return { transact, state: () => state, failAfter };
}

function statement(
  state: ReturnType<ReturnType<typeof database>['state']>,
  sql: string,
  values: readonly unknown[],
): object[] {
  if (sql.startsWith('INSERT INTO orders')) {
    const [order_id, total, token] = values as [string, number, string];
    if (state.orders.some((row) => row.token === token)) return [];
    state.orders.push({ order_id, total, token });
    return [{ order_id, total }];
  }
  if (sql.startsWith('SELECT order_id'))
    return state.orders
      .filter(({ token }) => token === values[0])
      .map(({ order_id, total }) => ({ order_id, total }));
  if (sql.startsWith('INSERT INTO consumed')) {
    if (state.consumed.includes(values[0] as string)) return [];
    state.consumed.push(values[0] as string);
    return [{}];
  }
  if (sql.startsWith('UPDATE totals')) {
    state.amount += values[0] as number;
    return [{}];
  }
  throw new Error(`unknown statement: ${sql}`);
}

test('the row is there and our record is not: the second run finds its own row', async () => {
  const { transact, state } = database();
  const clock = new Clock();
  const store = memoryStore({ now: clock.now });
  let isLost = true;
  const place = orders(
    {
      ...store,
      write: async (transition, limits) => {
        // the process dies between the two stores
        if (transition.kind === 'complete' && isLost) return new Promise(() => {});
        return store.write(transition, limits);
      },
    },
    transact,
  );
  void place({ id: 'o-1', total: 12 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(state().orders).toHaveLength(1);
  isLost = false;
  clock.advance(64_000);
  expect(await place({ id: 'o-1', total: 12 })).toEqual({ order_id: 'o-1', total: 12 });
  expect(state().orders).toHaveLength(1);
});

test('a consumer counts an event once; what fails in the middle is rolled back and counted when it comes again', async () => {
  const { transact, state, failAfter } = database();
  const event = { key: 'k', amount: 5 };
  failAfter(1);
  await expect(consume(transact, event)).rejects.toThrow('connection lost');
  expect(state().consumed).toEqual([]);
  failAfter(Number.POSITIVE_INFINITY);
  expect([await consume(transact, event), await consume(transact, event)]).toEqual([
    'counted',
    'seen before',
  ]);
  expect(state().amount).toBe(5);
});
