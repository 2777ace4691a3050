import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { idempotency } from '../../src/index.ts';
import { contextWith, fronts } from '../support/http.ts';
import { call, type Hooks, kits, problemIn } from './support/middy.ts';
import { world } from './support/world.ts';

const event = () => fronts.v2({ key: 'k', body: { amount: 1 } });

describe.each(kits)('the effect happened, something after it failed, Middy $version', (kit) => {
  test('M09: a completion that cannot be written leaves the answer alone and the claim to its lease', async () => {
    const { store, breakWrites, told, observe, records } = world();
    const run = vi.fn(() => ({ statusCode: 201, body: 'done' }));
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none', observe }))
      .use(kit.cors())
      .use(kit.errorHandler())
      .handler(run);
    breakWrites('complete', 'release');
    expect(await call(chain, event(), contextWith(300))).toMatchObject({ statusCode: 201, body: 'done' });
    expect(told()).toEqual(['claimed', 'store-failed']);
    breakWrites();
    expect(records()).toMatchObject([{ state: 'claimed' }]);
    expect((await call(chain, event())).statusCode).toBe(409);
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('M09: an answer that is too large goes out whole; the duplicate is told that it was done', async () => {
    const { store, told, observe } = world();
    const body = 'x'.repeat(500_000);
    const run = vi.fn(() => ({ statusCode: 201, body }));
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none', observe }))
      .handler(run);
    expect(await call(chain, event())).toEqual({ statusCode: 201, body });
    const second = await call(chain, event());
    expect(second.statusCode).toBe(410);
    expect(problemIn(second)).toMatchObject({ code: 'outcome-not-kept', originalStatus: 201 });
    expect(told()).toEqual(['claimed', 'not-kept', 'refused']);
    expect(run).toHaveBeenCalledTimes(1);
  });

  const shaperFails: [string, unknown][] = [
    ['an ordinary error', new Error('shaper')],
    [
      'a 5xx of Middy’s own',
      Object.assign(new Error('v', { cause: { package: '@middy/validator' } }), { statusCode: 500 }),
    ],
    [
      'a 4xx of Middy’s own',
      Object.assign(new Error('v', { cause: { package: '@middy/validator' } }), { statusCode: 422 }),
    ],
  ];
  test.each(shaperFails)(
    'M09: a shaper below that throws %s after the handler succeeded does not free the key',
    async (_name, error) => {
      const { store, records } = world();
      const run = vi.fn(() => ({ statusCode: 201, body: 'done' }));
      const shaper: Hooks = {
        after: () => {
          throw error;
        },
      };
      const chain = kit
        .middy()
        .use(idempotency({ store, operation: 'place', scope: 'none' }))
        .use(shaper)
        .handler(run);
      await expect(call(chain, event())).rejects.toBe(error);
      expect(records()).toMatchObject([{ state: 'completed' }]);
      await call(chain, event()).catch(() => undefined);
      expect(run).toHaveBeenCalledTimes(1);
    },
  );

  test('M09: a shaper that throws on a transient answer frees the key as the answer would have', async () => {
    const { store, records } = world();
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .use({ after: () => Promise.reject(new Error('shaper')) } satisfies Hooks)
      .handler(() => ({ statusCode: 503, body: '' }));
    await expect(call(chain, event())).rejects.toThrow('shaper');
    expect(records()).toMatchObject([{ state: 'released' }]);
  });

  test('M09: a middleware outside that throws after we completed changes nothing: the retry replays', async () => {
    const { store, rows } = world();
    const run = vi.fn(() => ({ statusCode: 201, body: 'done' }));
    let failing = true;
    const outer: Hooks = {
      after: () => {
        if (failing) throw new Error('outer');
      },
    };
    const chain = kit
      .middy()
      .use(outer)
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .handler(run);
    await expect(call(chain, event())).rejects.toThrow('outer');
    const completed = rows();
    failing = false;
    expect(await call(chain, event())).toMatchObject({ statusCode: 201, body: 'done' });
    expect(rows()).toBe(completed);
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('M16: a stream goes out untouched, nothing made from it is stored, the duplicate is told', async () => {
    const { store, records, told, observe } = world();
    const run = vi.fn(() => ({ statusCode: 200, body: Readable.from(['a', 'b', 'c']) }));
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none', observe }))
      .handler(run);
    const first = await call(chain, event());
    expect(first.body).toBe(run.mock.results[0]?.value.body);
    expect((await (first.body as Readable).toArray()).join('')).toBe('abc');
    expect(records()).toMatchObject([
      { state: 'completed', outcome: '1n{"reason":"unfaithful","status":200}' },
    ]);
    expect(problemIn(await call(chain, event()))).toMatchObject({ status: 410, code: 'outcome-not-kept' });
    expect(told()).toEqual(['claimed', 'not-kept', 'refused']);
    expect(run).toHaveBeenCalledTimes(1);
  });
});
