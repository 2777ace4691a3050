import { describe, expect, vi } from 'vitest';
import { idempotentHttp } from '../../src/index.ts';
import { companionPrefix } from '../../src/names.ts';
import { contextWith, fronts } from '../support/http.ts';
import { orders, start, transactional as test } from '../support/orders.ts';

const order = { id: 'o-1' };
const reference = { unique: [['acct-1', 'ext-9']], reference: 'order-7' };

describe('unique', () => {
  test('a retry two retention periods later has no second effect, and is told what became of the first', async () => {
    const { wrap, put, clock, orders: count } = await orders();
    const run = vi.fn();
    const place = wrap(
      (claim) => {
        run();
        return claim.commit({ statusCode: 201 }, [put(`o-${run.mock.calls.length}`)], reference);
      },
      { retention: { hours: 1 } },
    );
    expect(await place(order)).toEqual({ statusCode: 201 });
    clock.advance(2 * 3_600_000 + 1);
    await expect(place(order)).rejects.toMatchObject({
      code: 'already-applied',
      status: 409,
      reference: 'order-7',
      originalStatus: 201,
      appliedAt: new Date(start).toISOString(),
    });
    expect(run).toHaveBeenCalledTimes(2);
    expect(await count()).toBe(1);
  });

  test('over HTTP that is a 409 problem with the same members', async () => {
    const { once, put, clock, operation, orders: count } = await orders();
    const handler = idempotentHttp(
      async (_event: object, _context: unknown, claim) =>
        claim.commit({ statusCode: 201 }, [put(claim.key)], reference),
      { store: once.store({ now: clock.now }), operation, scope: 'none', retention: { hours: 1 } },
    );
    const deliver = async () =>
      (await handler(fronts.v2({ key: 'k', body: {} }), contextWith())) as {
        statusCode: number;
        body: string;
      };
    expect(await deliver()).toMatchObject({ statusCode: 201 });
    clock.advance(3 * 3_600_000);
    const late = await deliver();
    expect(late.statusCode).toBe(409);
    expect(JSON.parse(late.body)).toMatchObject({
      code: 'already-applied',
      reference: 'order-7',
      originalStatus: 201,
      appliedAt: new Date(start).toISOString(),
    });
    expect(await count()).toBe(1);
  });

  test('another key for the same reference and the same request is told the same', async () => {
    const { wrap, put, orders: count } = await orders();
    const place = wrap((claim) => claim.commit('placed', [put(claim.key)], reference), {
      key: ({ id }) => id,
      fingerprint: () => 'the same',
    });
    await place({ id: 'one' });
    await expect(place({ id: 'other' })).rejects.toMatchObject({
      code: 'already-applied',
      reference: 'order-7',
    });
    expect(await count()).toBe(1);
  });

  test.each(['fingerprint', 'operation'] as const)(
    'another %s under the same reference is a conflict',
    async (what) => {
      const { wrap, put, operation, orders: count } = await orders();
      const place = wrap((claim) => claim.commit('placed', [put(claim.key)], reference));
      await place({ id: 'one' });
      const other =
        what === 'operation' ? { operation: `${operation}-b`, fingerprint: () => ({ id: 'one' }) } : {};
      await expect(
        wrap((claim) => claim.commit('placed', [put(claim.key)], reference), other)({ id: 'other' }),
      ).rejects.toMatchObject({ code: 'key-reused', status: 422 });
      expect(await count()).toBe(1);
    },
  );

  test('scopes do not meet, nor do other parts', async () => {
    const { wrap, put, orders: count } = await orders();
    const place = (scope: string, ...parts: string[]) =>
      wrap((claim) => claim.commit('placed', [put(`${scope} ${parts.join()}`)], { unique: [parts] }), {
        scope: () => scope,
      })({ id: `${scope}${parts.join()}` });
    await place('acme', 'a', 'bc');
    await place('globex', 'a', 'bc');
    await place('acme', 'ab', 'c');
    await place('acme', 'a', 'b', 'c');
    expect(await count()).toBe(4);
  });

  test('the items have no end, tell nobody’s parts, and are one for each reference', async () => {
    const { wrap, once } = await orders();
    await wrap((claim) => claim.commit(1, [], { unique: [['ann@example.com'], ['ext-9'], ['ext-9']] }))(
      order,
    );
    const items = (await once.items()).filter(({ id }) => id?.S?.startsWith(companionPrefix.unique));
    expect(items).toHaveLength(2);
    for (const item of items) expect(item.expiresAt).toBeUndefined();
    expect(JSON.stringify(items)).not.toContain('ann@');
  });

  test.each([[[[]]], [['text']], [[['']]], [[[7]]]])('parts like %j are refused', async (unique) => {
    const { wrap, orders: count, put } = await orders();
    const place = wrap((claim) => claim.commit(1, [put('a')], { unique: unique as never }));
    await expect(place(order)).rejects.toMatchObject({
      code: 'input-invalid',
      message: expect.stringContaining('unique'),
    });
    expect(await count()).toBe(0);
  });
});
