import { describe, expect, test, vi } from 'vitest';
import { idempotency } from '../../src/index.ts';
import { fronts } from '../support/http.ts';
import { call, type Hooks, kits, problemIn } from './support/middy.ts';
import { world } from './support/world.ts';

const event = () => fronts.v2({ key: 'k', body: { amount: 1 } });

describe.each(kits)('what is replayed, Middy $version', (kit) => {
  test('M03: a handler that returns nothing runs once, the record is completed', async () => {
    const { store, records } = world();
    let runs = 0;
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .handler(async () => {
        runs += 1;
      });
    expect(await chain(event(), {})).toBeUndefined();
    expect(await chain(event(), {})).toBeUndefined();
    expect(runs).toBe(1);
    expect(records()).toMatchObject([{ state: 'completed' }]);
  });

  test.each([
    ['null', null],
    ['false', false],
    ['0', 0],
    ['""', ''],
    ['[]', []],
    ['{}', {}],
  ])('M04: %s is a result and is replayed exactly, without running', async (_name, result) => {
    const { store, records } = world();
    const run = vi.fn(async () => result);
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .handler(run);
    expect(await chain(event(), {})).toEqual(result);
    expect(await chain(event(), {})).toStrictEqual(result);
    expect(run).toHaveBeenCalledTimes(1);
    expect(records()).toMatchObject([{ state: 'completed' }]);
  });

  test('M05: what the shapers below added is on the replay as well; only the mark is new', async () => {
    const { store } = world();
    const security: Hooks = {
      after: ({ response }) => {
        (response as { headers: Record<string, string> }).headers['Strict-Transport-Security'] = 'max-age=1';
      },
    };
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .use(kit.cors())
      .use(security)
      .handler(() => ({ statusCode: 201, headers: { Location: '/orders/1' }, body: '{}' }));
    const [first, second] = [await call(chain, event()), await call(chain, event())];
    expect(first.headers).toMatchObject({
      'Access-Control-Allow-Origin': 'https://shop.example',
      'Strict-Transport-Security': 'max-age=1',
      Location: '/orders/1',
    });
    expect(second).toEqual({ ...first, headers: { ...first.headers, 'Idempotency-Replayed': 'true' } });
  });

  test('M06: with the serializer below, the replayed body has the same type and bytes', async () => {
    const { store } = world();
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .use(kit.serializer())
      .handler(() => ({ statusCode: 200, body: { b: 1, a: [2.5, null] } }));
    const [first, second] = [await call(chain, event()), await call(chain, event())];
    expect(first.body).toBe('{"b":1,"a":[2.5,null]}');
    expect(second.body).toBe(first.body);
    expect(second.headers).toEqual({ 'Content-Type': 'application/json', 'Idempotency-Replayed': 'true' });
  });

  test.each([
    ['an object', { a: 1 }],
    ['a list', [1]],
    ['a number', 0],
    ['a boolean', false],
  ])(
    'M06: with the serializer outside, %s as a body is refused on the first request',
    async (_name, body) => {
      const { store } = world();
      const run = vi.fn(() => ({ statusCode: 200, body }));
      const chain = kit
        .middy()
        .use(kit.serializer())
        .use(idempotency({ store, operation: 'place', scope: 'none' }))
        .handler(run);
      await expect(call(chain, event())).rejects.toMatchObject({
        code: 'options',
        message: expect.stringMatching(/serializer below idempotency/),
      });
      const second = await call(chain, event());
      expect(second.statusCode).toBe(410);
      expect(problemIn(second)).toMatchObject({ code: 'outcome-not-kept', originalStatus: 200 });
      expect(run, 'the effect does not happen twice').toHaveBeenCalledTimes(1);
    },
  );

  test('M06: a transient answer in that order is refused as well, but does not burn the key', async () => {
    const { store, records } = world();
    const chain = kit
      .middy()
      .use(kit.serializer())
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .handler(() => ({ statusCode: 503, body: { a: 1 } }));
    await expect(call(chain, event())).rejects.toMatchObject({ code: 'options' });
    expect(records()).toMatchObject([{ state: 'released' }]);
  });
});
