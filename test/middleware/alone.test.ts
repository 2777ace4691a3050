import { describe, expect, test, vi } from 'vitest';
import { idempotency } from '../../src/index.ts';
import { frontEnds, headersOf } from './support/fronts.ts';
import { type Answer, call, type Hooks, kits, problemIn } from './support/middy.ts';
import { gate, world } from './support/world.ts';

describe.each(kits)('nothing but idempotency in the chain, Middy $version', (kit) => {
  test.each(frontEnds)('H15: refusals are answers, from %s', async (_name, front, multi) => {
    const { store } = world();
    const [started, finish] = [gate(), gate()];
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .handler(async () => {
        started.open();
        await finish.opened;
        return { statusCode: 201, body: '' };
      });
    const send = (key: string | undefined, body: unknown = 1) =>
      call(chain, front({ body, ...(key !== undefined && { key }) }));
    const expectRefusal = (answer: Answer, status: number, code: string): void => {
      expect(answer.statusCode).toBe(status);
      expect(headersOf(answer, multi)).toMatchObject({ 'Content-Type': 'application/problem+json' });
      expect(problemIn(answer)).toMatchObject({ status, code });
    };

    const first = send('k');
    await started.opened;
    const busy = await send('k');
    expectRefusal(busy, 409, 'busy');
    expect(Number(headersOf(busy, multi)['Retry-After'])).toBeGreaterThanOrEqual(1);
    expectRefusal(await send('k', 2), 422, 'key-reused');
    expectRefusal(await send(undefined), 400, 'key-missing');
    expectRefusal(await send(' '), 400, 'key-invalid');
    finish.open();
    expect(await first).toEqual({ statusCode: 201, body: '' });
    const replay = await send('k');
    expect(replay.statusCode).toBe(201);
    expect(headersOf(replay, multi)).toEqual({ 'Idempotency-Replayed': 'true' });
  });

  test('H15: whoever sent another event gets a typed error', async () => {
    const { store, calls } = world();
    const chain = kit.middy().use(idempotency({ store, operation: 'place', scope: 'none' }));
    await expect(chain({ orderId: '7' }, {})).rejects.toMatchObject({
      name: 'IdempotencyError',
      code: 'key-missing',
    });
    expect(calls).toEqual([]);
  });

  test('H15: another event with a key function is protected; its duplicate gets a typed error', async () => {
    const { store } = world();
    const [started, finish] = [gate(), gate()];
    const chain = kit
      .middy()
      .use(
        idempotency<{ orderId: string }>({
          store,
          operation: 'place',
          scope: 'none',
          key: ({ orderId }) => orderId,
        }),
      )
      .handler(async () => {
        started.open();
        await finish.opened;
        return 'shipped';
      });
    const first = chain({ orderId: '7' }, {});
    await started.opened;
    await expect(chain({ orderId: '7' }, {})).rejects.toMatchObject({ code: 'busy', status: 409 });
    await expect(chain({ orderId: '7', more: 1 }, {})).rejects.toMatchObject({ code: 'key-reused' });
    finish.open();
    expect(await first).toBe('shipped');
    expect(await chain({ orderId: '7' }, {})).toBe('shipped');
  });

  test('an early answer of a middleware below us leaves the claim to its lease: nothing runs twice', async () => {
    const { store, skip, records } = world();
    const run = vi.fn();
    const cache: Hooks = { before: () => ({ statusCode: 200, body: 'cached' }) };
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .use(cache)
      .handler(run);
    const send = () => call(chain, frontEnds[1]?.[1]({ key: 'k', body: 1 }));
    expect(await send()).toMatchObject({ body: 'cached' });
    expect(records()).toMatchObject([{ state: 'claimed' }]);
    expect(problemIn(await send())).toMatchObject({ code: 'busy' });
    skip(60_000);
    expect(problemIn(await send())).toMatchObject({ code: 'in-doubt' });
    expect(run).not.toHaveBeenCalled();
  });

  test('what a key or scope function throws of its own reaches the caller as it is', async () => {
    const { store, calls } = world();
    const own = new Error('no such tenant');
    for (const option of ['key', 'scope']) {
      const throwing = { [option]: () => Promise.reject(own) };
      const options = { store, operation: `op-${option}`, scope: 'none' as const, ...throwing };
      const chain = kit.middy().use(idempotency(options));
      await expect(call(chain, frontEnds[0]?.[1]({ key: 'k', body: 1 }))).rejects.toBe(own);
    }
    expect(calls).toEqual([]);
  });
});
