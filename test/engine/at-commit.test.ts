import { describe, expect, vi } from 'vitest';
import { idempotentHttp, idempotentSqs } from '../../src/index.ts';
import { contextWith, fronts } from '../support/http.ts';
import { lossyEngine } from '../support/lossy-proxy.ts';
import { orders, transactional as test } from '../support/orders.ts';
import { engineClient } from '../support/table.ts';

const proxy = await lossyEngine();
const order = { id: 'o-1' };
const atCommit = { claim: 'at-commit' } as const;

describe("claim: 'at-commit'", () => {
  test('50 duplicates at once: one set of writes, 50 equal answers', async () => {
    const { wrap, put, orders: count } = await orders();
    let runs = 0;
    const place = wrap((claim) => {
      runs += 1;
      return claim.commit({ run: runs }, [put(`o-${runs}`)]);
    }, atCommit);
    const answers = await Promise.all(Array.from({ length: 50 }, () => place(order)));
    expect(runs).toBeGreaterThan(1);
    expect(await count()).toBe(1);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await place(order)).toEqual(answers[0]);
  });

  test('P12: one request and two write units for our item; first with a claim: two requests', async () => {
    const { once, put, operation } = await orders(proxy);
    const client = engineClient(proxy.endpoint);
    const units: number[] = [];
    client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next({
          ...args,
          input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' },
        } as typeof args);
        const { ConsumedCapacity } = result.output as { ConsumedCapacity?: unknown };
        for (const each of [ConsumedCapacity].flat() as { TableName: string; CapacityUnits: number }[]) {
          if (each.TableName === once.tableName) units.push(each.CapacityUnits);
        }
        return result;
      },
      { step: 'initialize' },
    );
    const handler = (claim: 'first' | 'at-commit') =>
      idempotentHttp(
        async (_event: object, _context: unknown, held) => held.commit({ statusCode: 201 }, [put(held.key)]),
        { store: once.store({ client }), operation: `${operation}-${claim}`, scope: 'none', claim },
      );
    await handler('at-commit')(fronts.v2({ key: 'a', body: {} }), contextWith());
    expect(proxy.operations()).toEqual(['TransactWriteItems']);
    expect(units).toEqual([2]);
    proxy.heal();
    await handler('first')(fronts.v2({ key: 'b', body: {} }), contextWith());
    expect(proxy.operations()).toEqual(['PutItem', 'TransactWriteItems']);
  });

  test('over HTTP a late duplicate gets the first answer, marked; another request under the key 422', async () => {
    const { once, put, operation } = await orders();
    const handler = idempotentHttp(
      async (_event: object, _context: unknown, claim) =>
        claim.commit({ statusCode: 201, headers: { Location: '/o-1' }, body: 'first' }, [put('o-1')]),
      { store: once.store(), operation, scope: 'none', ...atCommit },
    );
    const deliver = async (body: object) =>
      (await handler(fronts.v2({ key: 'k', body }), contextWith())) as {
        statusCode: number;
        headers: object;
      };
    const first = await deliver({ amount: 1 });
    expect(first).toEqual({ statusCode: 201, headers: { Location: '/o-1' }, body: 'first' });
    expect(await deliver({ amount: 1 })).toEqual({
      ...first,
      headers: { Location: '/o-1', 'Idempotency-Replayed': 'true' },
    });
    expect(await deliver({ amount: 2 })).toMatchObject({ statusCode: 422 });
  });

  test('a handler that returns without a commit is an error, and nothing is stored', async () => {
    const { wrap, record } = await orders();
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    await expect(wrap(() => 'done', atCommit)(order)).rejects.toMatchObject({ code: 'options', status: 500 });
    expect(await record()).toBeUndefined();
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('returned without claim.commit'));
    warned.mockRestore();
  });

  test('what it throws passes through, and nothing is stored', async () => {
    const { wrap, record } = await orders();
    const place = wrap(() => Promise.reject(new Error('the pricing service is down')), atCommit);
    await expect(place(order)).rejects.toThrow('the pricing service is down');
    expect(await record()).toBeUndefined();
  });

  test('there is nothing to sweep, and no claim to perform or capture under', async () => {
    const { wrap, record } = await orders();
    const told = vi.fn();
    const place = wrap(async (claim) => {
      await claim.capture('at', () => 1).catch(told);
      return claim.commit(claim.token('a'), []);
    }, atCommit);
    expect(await place(order)).toMatch(/^[\w-]{43}$/);
    expect(told).toHaveBeenCalledWith(expect.objectContaining({ code: 'options' }));
    expect(await record()).toMatchObject({ state: 'completed' });
    expect((await record())?.dueAt).toBeUndefined();
  });

  test('an expired record is replaced, and so is one that a person released', async () => {
    const { wrap, put, clock, once, operation, record, orders: count } = await orders();
    let runs = 0;
    const place = wrap(
      (claim) => {
        runs += 1;
        return claim.commit(runs, [put(`o-${runs}`)]);
      },
      { ...atCommit, retention: { hours: 1 } },
    );
    expect(await place(order)).toBe(1);
    clock.advance(3_600_001);
    expect(await place(order)).toBe(2);
    const held = wrap(() => new Promise(() => {}), { lease: { seconds: 1 } });
    void held({ id: 'o-2' });
    await vi.waitFor(async () => expect((await once.records()).length).toBe(2));
    clock.advance(10_000);
    const store = once.store({ now: clock.now });
    await store.resolve({
      operation,
      scope: 'none',
      key: 'o-2',
      as: 'released',
      by: 'ops',
      why: 'nothing happened',
    });
    expect(await place({ id: 'o-2' })).toBe(3);
    expect(await count()).toBe(3);
    expect(await record()).toMatchObject({ state: 'completed' });
  });

  test('a live claim of an older deployment, which claims first, is busy', async () => {
    const { wrap, put, once, orders: count } = await orders();
    void wrap(() => new Promise(() => {}))(order);
    await vi.waitFor(async () => expect(await once.records()).toHaveLength(1));
    const place = wrap((claim) => claim.commit(1, [put('o-1')]), atCommit);
    await expect(place(order)).rejects.toMatchObject({ code: 'busy' });
    expect(await count()).toBe(0);
  });

  test('a queue: each message is committed once', async () => {
    const { once, put, operation, orders: count } = await orders();
    const consume = idempotentSqs(
      async ({ body }: { messageId: string; body: string }, _context: unknown, claim) =>
        claim.commit('done', [put(body)]),
      { store: once.store(), operation, key: ({ body }) => body, ...atCommit },
    );
    const Records = ['a', 'b', 'a'].map((body, index) => ({ messageId: `${index}`, body }));
    expect(await consume({ Records }, contextWith() as never)).toEqual({ batchItemFailures: [] });
    expect(await consume({ Records }, contextWith() as never)).toEqual({ batchItemFailures: [] });
    expect(await count()).toBe(2);
  });
});
