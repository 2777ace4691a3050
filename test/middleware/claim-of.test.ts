import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { type Claim, claimOf, idempotency } from '../../src/index.ts';
import { contextWith, fronts } from '../support/http.ts';
import { call, kits } from './support/middy.ts';
import { world } from './support/world.ts';

describe.each(kits)('claimOf, Middy $version', (kit) => {
  const chainOf = (given: Partial<Parameters<typeof idempotency>[0]> = {}) => {
    const all = world();
    const claims: Claim[] = [];
    const chain = kit
      .middy()
      .use(idempotency({ store: all.store, operation: 'place', scope: () => 'tenant-1', ...given }))
      .handler((_event, context) => {
        claims.push(claimOf(context));
        return { statusCode: 201, body: String(claimOf(context).key) };
      });
    return { ...all, claims, chain };
  };

  test('inside the handler it has everything that the record has', async () => {
    const { chain, claims, records } = chainOf();
    await call(chain, fronts.v1({ key: '"quoted"', body: 1 }));
    const [record] = records();
    expect(claims).toEqual([
      expect.objectContaining({
        id: record?.id,
        key: 'quoted',
        scope: 'tenant-1',
        operation: 'place',
        fence: record?.fence,
        attempt: 1,
        held: true,
      }),
    ]);
    expect(claims[0]?.signal).toBeInstanceOf(AbortSignal);
    expect(claims[0]?.signal.aborted).toBe(false);
  });

  test('its signal aborts when the lease is over', async () => {
    const { store } = world();
    const aborted = vi.fn();
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none', lease: { milliseconds: 40 } }))
      .handler(async (_event, context) => {
        claimOf(context).signal.addEventListener('abort', aborted);
        await sleep(80);
        return { statusCode: 201, body: '' };
      });
    await call(chain, fronts.v2({ key: 'k', body: 1 }));
    expect(aborted).toHaveBeenCalledTimes(1);
  });

  test('the attempt counts up after a release', async () => {
    const { store } = world();
    const attempts: number[] = [];
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .handler((_event, context) => {
        attempts.push(claimOf(context).attempt);
        return { statusCode: attempts.length === 1 ? 503 : 201, body: '' };
      });
    for (let time = 0; time < 3; time += 1) await call(chain, fronts.v2({ key: 'k', body: 1 }));
    expect(attempts).toEqual([1, 2]);
  });

  test('elsewhere it throws, whatever it is given', () => {
    for (const context of [{}, contextWith(), Object.freeze({})]) {
      expect(() => claimOf(context)).toThrow(expect.objectContaining({ code: 'options' }));
    }
  });

  test.each([
    ['a safe method', {}, fronts.v2({ method: 'GET', key: 'k' })],
    ['no key where none is required', { required: false }, fronts.v2({ body: 1 })],
  ])('H16 H05: %s runs with a claim that is not held', async (_name, options, event) => {
    const { chain, claims, calls } = chainOf(options);
    await call(chain, event);
    expect(claims).toEqual([expect.objectContaining({ held: false, operation: 'place', key: '', fence: 0 })]);
    expect(claims[0]?.signal.aborted).toBe(false);
    expect(calls).toEqual([]);
  });

  test('many requests at once on one instance keep their claims and their answers apart', async () => {
    const { store, records } = world();
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .use(kit.errorHandler())
      .handler(async (event, context) => {
        const before = claimOf(context).key;
        await sleep(Math.random() * 20);
        const { key } = claimOf(context);
        if (Number(key) % 5 === 0) throw new Error('fails');
        return { statusCode: 201, body: JSON.stringify([before, key, event.headers?.['idempotency-key']]) };
      });
    const keys = Array.from({ length: 50 }, (_, index) => String(index + 1));
    const answers = await Promise.all(keys.map((key) => call(chain, fronts.v2({ key, body: key }))));
    for (const [index, key] of keys.entries()) {
      if (Number(key) % 5 === 0) expect(answers[index]).toMatchObject({ statusCode: 500 });
      else expect(JSON.parse(String(answers[index]?.body))).toEqual([key, key, key]);
    }
    const states = records().map(({ state }) => state);
    expect(states.filter((state) => state === 'completed')).toHaveLength(40);
    expect(states.filter((state) => state === 'released')).toHaveLength(10);
  });
});
