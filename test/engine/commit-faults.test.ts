import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { idempotentHttp } from '../../src/index.ts';
import { contextWith, fronts } from '../support/http.ts';
import { lossyEngine } from '../support/lossy-proxy.ts';
import { orders, transactional as test } from '../support/orders.ts';
import { engineClient } from '../support/table.ts';

const proxy = await lossyEngine();
const order = { id: 'o-1' };
/** An invocation that leaves time to try again, and no more. */
const brief = { getRemainingTimeInMillis: () => 1500 };

/** The tokens of the transactions that came by. */
const tokens = (): unknown[] =>
  proxy.requests
    .filter(({ operation }) => operation === 'TransactWriteItems')
    .map(({ body }) => body.ClientRequestToken);

describe('S21: a transaction that is cancelled', () => {
  test.each([
    ['TransactionConflict', { cancel: 'TransactionConflict' }],
    ['ThrottlingError', { cancel: 'ThrottlingError' }],
    ['ProvisionedThroughputExceeded', { cancel: 'ProvisionedThroughputExceeded' }],
    ['TransactionInProgress', 'in-progress'],
  ] as const)('%s passes: it is sent again under its token, and applied once', async (_name, fault) => {
    const { wrap, put, orders: count, record } = await orders(proxy);
    proxy.on('TransactWriteItems', fault, 2);
    expect(await wrap((claim) => claim.commit('placed', [put('o-1')]))(order)).toBe('placed');
    expect(tokens().length).toBeGreaterThanOrEqual(3);
    expect(new Set(tokens()).size).toBe(1);
    expect(await count()).toBe(1);
    expect(await record()).toMatchObject({ state: 'completed' });
  });

  test('contention without end: store, nothing written, and the claim is free again', async () => {
    const { wrap, put, orders: count, record } = await orders(proxy);
    proxy.on('TransactWriteItems', { cancel: 'TransactionConflict' }, 100);
    const place = wrap((claim) => claim.commit('placed', [put('o-1')]));
    await expect(place(order, brief)).rejects.toMatchObject({ code: 'store' });
    expect(await count()).toBe(0);
    expect(await record()).toMatchObject({ state: 'released' });
    proxy.heal();
    expect(await place(order)).toBe('placed');
  });

  test('our own condition: somebody else took over, the handler is told lease-lost, the caller gets what stands', async () => {
    const { wrap, put, clock, orders: count } = await orders(proxy);
    const told = vi.fn();
    const gate = Promise.withResolvers<void>();
    const slow = wrap(
      async (claim) => {
        await gate.promise;
        return claim.commit('slow', [put('slow')]).catch((error: unknown) => {
          told(error);
          throw error;
        });
      },
      { onLapse: 'rerun' },
    );
    const first = slow(order);
    await sleep(50);
    clock.advance(14_000);
    const quick = wrap((claim) => claim.commit('quick', [put('quick')]), { onLapse: 'rerun' });
    expect(await quick(order)).toBe('quick');
    gate.resolve();
    expect(await first).toBe('quick');
    expect(told).toHaveBeenCalledWith(expect.objectContaining({ code: 'lease-lost' }));
    expect(await count()).toBe(1);
  });
});

describe('rule 3: no success on an unknown commit', () => {
  test.each([1, 2, 3])('it landed, and %i replies are lost: no error, one set of writes', async (times) => {
    const { wrap, put, orders: count } = await orders(proxy);
    proxy.on('TransactWriteItems', 'drop-reply', times);
    const place = wrap((claim) => claim.commit('placed', [put('o-1')]));
    expect([await place(order), await place(order)]).toEqual(['placed', 'placed']);
    expect(await count()).toBe(1);
    expect(new Set(tokens()).size).toBe(1);
  });

  test('every reply is lost: the record is read, and tells', async () => {
    const { wrap, put, orders: count } = await orders(proxy);
    proxy.on('TransactWriteItems', 'drop-reply', 100);
    expect(await wrap((claim) => claim.commit('placed', [put('o-1')]))(order, brief)).toBe('placed');
    expect(await count()).toBe(1);
    expect(proxy.operations()).toContain('GetItem');
  });

  test('the parameters are taken for others: the record is read, and tells', async () => {
    const { wrap, put, orders: count } = await orders(proxy);
    proxy.on('TransactWriteItems', 'drop-reply');
    proxy.on('TransactWriteItems', 'mismatch', 100);
    expect(await wrap((claim) => claim.commit('placed', [put('o-1')]))(order, brief)).toBe('placed');
    expect(await count()).toBe(1);
  });

  test('it never arrived and nobody can tell: store, never success; the next delivery runs', async () => {
    const { wrap, put, orders: count, events } = await orders(proxy);
    proxy.on('TransactWriteItems', 'reset', 100);
    proxy.on('GetItem', 'reset', 100);
    const place = wrap((claim) => claim.commit('placed', [put('o-1')]));
    await expect(place(order, brief)).rejects.toMatchObject({ code: 'store' });
    expect(events).toContainEqual(expect.objectContaining({ type: 'store-failed', at: 'commit' }));
    expect(await count()).toBe(0);
    proxy.heal();
    expect(await place(order)).toBe('placed');
    expect(await count()).toBe(1);
  });

  test('it landed and nobody can tell at first: the release finds it, and the caller gets what was committed', async () => {
    const { wrap, put, orders: count } = await orders(proxy);
    proxy.on('TransactWriteItems', 'drop-reply', 100);
    proxy.on('GetItem', 'reset', 100);
    const run = vi.fn();
    const place = wrap((claim) => {
      run();
      return claim.commit('placed', [put('o-1')]);
    });
    expect(await place(order, brief)).toBe('placed');
    expect(await place(order)).toBe('placed');
    expect(run).toHaveBeenCalledTimes(1);
    expect(await count()).toBe(1);
  });

  test('over HTTP the unknown is a 503 with a hint, and not the handler’s answer', async () => {
    const { once, put, operation, orders: count } = await orders(proxy);
    const handler = idempotentHttp(
      async (_event: object, _context: unknown, claim) =>
        claim.commit({ statusCode: 201, body: '' }, [put('o-1')]),
      { store: once.store({ client: engineClient(proxy.endpoint) }), operation, scope: 'none' },
    );
    const deliver = async () =>
      (await handler(fronts.v2({ key: 'k', body: {} }), contextWith())) as {
        statusCode: number;
        headers: object;
      };
    for (const each of ['TransactWriteItems', 'GetItem', 'UpdateItem'] as const) proxy.on(each, 'reset', 100);
    expect(await deliver()).toMatchObject({
      statusCode: 503,
      headers: { 'Retry-After': expect.any(String) },
    });
    expect(await count()).toBe(0);
  }, 30_000);
});
