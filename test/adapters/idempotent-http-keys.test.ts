import { describe, expect, test, vi } from 'vitest';
import { type Claim, type HttpEvent, type HttpOptions, idempotentHttp } from '../../src/index.ts';
import { call, problemIn } from '../middleware/support/middy.ts';
import { world } from '../middleware/support/world.ts';
import { fronts } from '../support/http.ts';

type Options = Partial<HttpOptions<HttpEvent, unknown, unknown>>;

function start(options: Options = {}, all = world()) {
  const claims: Claim[] = [];
  const run = vi.fn((_event: HttpEvent, _context: unknown, claim: Claim): unknown => {
    claims.push(claim);
    return { statusCode: 201, body: `run ${claims.length}` };
  });
  const { store, observe } = all;
  const seat = idempotentHttp(run, { store, operation: 'place', scope: 'none', observe, ...options });
  return { ...all, run, claims, seat };
}

/** What a key function might yield in a program without types. */
const keyFunction = (key: unknown) => (async () => key) as NonNullable<Options['key']>;

describe('H05: no key', () => {
  const nothing: [string, Options][] = [
    ['no header', {}],
    ['a function that yields undefined', { key: keyFunction(undefined) }],
    ['a function that yields null', { key: keyFunction(null) }],
    ['a function that yields ""', { key: keyFunction('') }],
    ['a function that yields a blank', { key: keyFunction(' \t') }],
  ];
  test.each(nothing)('H05: %s is 400 where a key is required', async (_name, options) => {
    const { seat, calls, run } = start(options);
    expect(problemIn(await call(seat, fronts.v2({ body: 1 })))).toMatchObject({
      status: 400,
      code: 'key-missing',
    });
    expect(calls).toEqual([]);
    expect(run).not.toHaveBeenCalled();
  });

  test.each(nothing)(
    'H05: %s runs where none is required, every time, with no store call',
    async (_name, options) => {
      const { seat, calls, run, claims, told } = start({ ...options, required: false });
      for (let time = 0; time < 2; time += 1) {
        expect(await call(seat, fronts.v2({ body: 1 }))).toEqual({
          statusCode: 201,
          body: `run ${time + 1}`,
        });
      }
      expect(run).toHaveBeenCalledTimes(2);
      expect(claims.map(({ held }) => held)).toEqual([false, false]);
      expect(calls).toEqual([]);
      expect(told()).toEqual(['bypassed', 'bypassed']);
    },
  );

  const wrong = [0, false, 7, {}, { a: null, b: null }, [null, null], ['a'], '\ud800'];
  test.each(wrong.map((key) => [JSON.stringify(key), key]))(
    'H05: a function that yields %s is refused, required or not',
    async (_name, key) => {
      for (const required of [true, false]) {
        const { seat, calls, run } = start({ key: keyFunction(key), required });
        const answer = await call(seat, fronts.v2({ body: 1 }));
        expect(problemIn(answer)).toMatchObject({ status: 400, code: 'key-invalid' });
        expect(calls).toEqual([]);
        expect(run).not.toHaveBeenCalled();
      }
    },
  );

  test('H05: what the key function throws is the user’s own', async () => {
    const own = new TypeError('no order');
    const { seat } = start({ key: () => Promise.reject(own) });
    await expect(call(seat, fronts.v2({ body: 1 }))).rejects.toBe(own);
  });
});

describe('H08 H09: whose key and for what', () => {
  test('H08: one key on two routes of one function never gets the other route’s answer', async () => {
    const { seat, run } = start();
    await call(seat, fronts.v1({ path: '/orders', key: 'k', body: 1 }));
    const cancel = await call(seat, fronts.v1({ path: '/orders/1/cancel', key: 'k', body: 1 }));
    expect(problemIn(cancel)).toMatchObject({ status: 422, code: 'key-reused' });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('H08: two operations on one table do not collide', async () => {
    const all = world();
    const [create, cancel] = [start({}, all), start({ operation: 'cancel' }, all)];
    await call(create.seat, fronts.v1({ key: 'k', body: 1 }));
    expect(await call(cancel.seat, fronts.v1({ key: 'k', body: 1 }))).toMatchObject({ body: 'run 1' });
    expect(all.records()).toHaveLength(2);
  });

  test('H09: two principals with one key and one body run apart; neither gets the other’s answer', async () => {
    const scope = (event: HttpEvent) => String(event.headers?.['x-tenant']);
    const { seat, run, claims } = start({ scope });
    for (const tenant of ['a', 'b', 'a', 'b']) {
      const event = fronts.v2({ key: 'k', body: 1, headers: { 'x-tenant': tenant } });
      expect(await call(seat, event)).toMatchObject({ body: tenant === 'a' ? 'run 1' : 'run 2' });
    }
    expect(run).toHaveBeenCalledTimes(2);
    expect(claims.map((claim) => claim.scope)).toEqual(['a', 'b']);
  });

  test.each([[undefined], [null], [''], [' '], [7]])(
    'H09: a scope function that yields %j is an error, not a shared bucket',
    async (given) => {
      const { seat, calls, run } = start({ scope: (() => given) as () => string });
      const answer = await call(seat, fronts.v2({ key: 'k', body: 1 }));
      expect(problemIn(answer)).toMatchObject({ status: 400, code: 'input-invalid' });
      expect(calls).toEqual([]);
      expect(run).not.toHaveBeenCalled();
    },
  );

  test('H18: neither key nor scope nor payload is in the row, in an event or in a refusal', async () => {
    const secrets = ['alice@example.com', 'tenant-4711', 'card-4242'];
    const { seat, rows, events } = start({ scope: () => 'tenant-4711' });
    const send = (body: unknown) => call(seat, fronts.v2({ key: 'alice@example.com', body }));
    await send({ card: 'card-4242' });
    await send({ card: 'card-4242' });
    const refusal = await send({ card: 'another' });
    for (const secret of secrets) {
      expect(rows()).not.toContain(secret);
      expect(JSON.stringify(events)).not.toContain(secret);
      expect(JSON.stringify(refusal)).not.toContain(secret);
    }
  });

  test('H18: a lookup needs the same scope, and tells the state but not the body unless asked', async () => {
    const { seat, store } = start({ scope: () => 'a' });
    await call(seat, fronts.v2({ key: 'k', body: 1 }));
    const query = { operation: 'place', key: 'k' };
    expect(await store.lookup({ ...query, scope: 'b' })).toBeUndefined();
    const found = await store.lookup({ ...query, scope: 'a' });
    expect(found).toMatchObject({ state: 'completed' });
    expect(found).not.toHaveProperty('outcome');
    expect(await store.lookup({ ...query, scope: 'a', withOutcome: true })).toMatchObject({
      outcome: { kind: 'value', value: { statusCode: 201, body: 'run 1' } },
    });
  });
});
