import { describe, expect, test } from 'vitest';
import { type Claim, idempotentHttp } from '../../src/index.ts';
import { contextWith, fronts } from '../support/http.ts';
import { call, type Handler, kits } from './support/middy.ts';
import { gate, world } from './support/world.ts';

const event = () => fronts.v2({ key: 'k', body: { amount: 1 } });

describe.each(kits)('the handler’s seat outlives the early timeout of Middy $version', (kit) => {
  test.each([
    ['the error goes out bare', false],
    ['an error handler answers', true],
  ])('M10: %s; the late handler completes and the retry replays its answer', async (_name, handled) => {
    const { store, told, observe, records } = world();
    const finish = gate();
    const claims: Claim[] = [];
    const seat = idempotentHttp(
      async (_event: unknown, _context: object, claim) => {
        claims.push(claim);
        expect(claim.signal.aborted).toBe(false);
        await finish.opened;
        return { statusCode: 201, body: 'late' };
      },
      { store, operation: 'place', scope: 'none', observe },
    );
    const chain = kit.middy(seat as Handler, { timeoutEarlyInMillis: 10 });
    if (handled) chain.use(kit.cors()).use(kit.errorHandler());
    const first = call(chain, event(), contextWith(60));
    if (handled) expect(await first).toMatchObject({ statusCode: 500 });
    else await expect(first).rejects.toMatchObject({ name: 'TimeoutError' });

    expect(claims[0]?.signal.aborted, 'Middy’s signal reaches the claim').toBe(true);
    expect((await call(chain, event())).statusCode).toBe(409);
    finish.open();
    await expect.poll(() => records()[0]?.state).toBe('completed');
    const replay = await call(chain, event());
    expect(replay).toMatchObject({ statusCode: 201, body: 'late' });
    expect(replay.headers?.['Idempotency-Replayed']).toBe('true');
    expect(told()).toEqual(['claimed', 'refused', 'completed', 'replayed']);
    expect(claims).toHaveLength(1);
  });

  test('M11: an early answer of 408 is never the outcome: the late one is', async () => {
    const { store } = world();
    const finish = gate();
    const seat = idempotentHttp(
      async () => {
        await finish.opened;
        return { statusCode: 201, body: 'late' };
      },
      { store, operation: 'place', scope: 'none' },
    );
    const chain = kit.middy(seat as Handler, {
      timeoutEarlyInMillis: 10,
      timeoutEarlyResponse: () => ({ statusCode: 408 }),
    });
    expect(await call(chain, event(), contextWith(60))).toEqual({ statusCode: 408 });
    finish.open();
    await expect.poll(async () => (await call(chain, event())).statusCode).toBe(201);
  });

  test('L08: a duplicate that waits gives up when Middy’s early timeout aborts it', async () => {
    const { store, calls } = world();
    const [started, finish] = [gate(), gate()];
    const seat = idempotentHttp(
      async () => {
        started.open();
        await finish.opened;
        return { statusCode: 201, body: '' };
      },
      { store, operation: 'place', scope: 'none', wait: { seconds: 20 } },
    );
    const patient = kit.middy(seat as Handler, { timeoutEarlyInMillis: 900 });
    const first = call(patient, event());
    await started.opened;
    await expect(call(patient, event(), contextWith(1000))).rejects.toMatchObject({ name: 'TimeoutError' });
    finish.open();
    await first;
    const reads = calls.length;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(calls.length, 'nobody polls for a caller that is gone').toBe(reads);
  });
});
