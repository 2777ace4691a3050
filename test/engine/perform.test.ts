import { afterEach, describe, expect, test, vi } from 'vitest';
import { deriveKey } from '../../src/domain/derive.ts';
import type { Claim } from '../../src/index.ts';
import {
  type Charge,
  crash,
  type EffectWorld,
  effectWorld,
  lapsed,
  order,
  otherProcess,
  settled,
  start,
  turns,
} from '../support/effects.ts';

/** A first attempt that charges, or not, and dies inside `run`; what the bodies of later ones saw before they performed. */
async function died({ charged }: { readonly charged: boolean }, options: object = {}) {
  const world = effectWorld();
  const { provider } = world;
  let lives = false;
  const tokens: string[] = [];
  const charge = world.effect({
    ...options,
    run: async ({ amount }, { token }) => {
      tokens.push(token);
      const paid = charged || lives ? provider.charge(token, amount) : undefined;
      return lives && paid !== undefined ? paid : crash();
    },
  });
  const bodies: { asked: number; attempt: number }[] = [];
  const pay = world.wrap((claim) => {
    bodies.push({ asked: provider.questions.length, attempt: claim.attempt });
    return claim.perform(charge, order);
  });
  void pay();
  await turns();
  lives = true;
  return { ...world, pay, charge, tokens, bodies };
}

afterEach(() => vi.useRealTimers());

test('done: the stored result comes back, nothing runs and nobody is asked', async () => {
  const { effect, wrap, provider, record, writes, events } = effectWorld();
  const charge = effect();
  let fails = true;
  const pay = wrap(async (claim) => {
    const paid = await claim.perform(charge, order);
    if (fails) throw new Error('after the charge');
    return paid;
  });
  await expect(pay()).rejects.toThrow('after the charge');
  expect(record()).toMatchObject({ state: 'released', attempt: 1 });
  expect(record().dueAt).toBeUndefined();
  fails = false;
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  expect(provider).toMatchObject({ charges: [{ amount: 1200 }], questions: [] });
  expect(record()).toMatchObject({ state: 'completed', attempt: 2 });
  expect(writes).toEqual(['claim', 'begun', 'done', 'release', 'claim', 'take-over', 'complete']);
  expect(events.filter(({ type }) => type === 'performed')).toMatchObject([
    { how: 'run' },
    { how: 'stored' },
  ]);
});

describe('begun by an attempt that was never heard of again', () => {
  test('found: journalled before the handler runs, its result returned, and not run again', async () => {
    const { pay, clock, provider, bodies, events, tokens } = await died({ charged: true });
    clock.advance(lapsed);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect(bodies).toEqual([
      { asked: 0, attempt: 1 },
      { asked: 1, attempt: 2 },
    ]);
    expect(provider.questions).toHaveLength(1);
    expect(tokens).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'reconciled')).toMatchObject([{ verdict: 'found' }]);
  });

  test('P11: absent, and settled: it runs again under the same token, which is derived from the record', async () => {
    const { pay, clock, provider, record, charge, tokens } = await died({ charged: false });
    clock.advance(settled);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    const token = deriveKey(record().id, charge.name);
    expect(tokens).toEqual([token, token]);
    expect(provider.charges).toMatchObject([{ token }]);
  });

  test('absent, but not settled: in doubt until the very millisecond from which it counts', async () => {
    const { pay, clock, provider, record, bodies, events } = await died({ charged: false });
    clock.advance(lapsed);
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt', status: 409, retryAfter: 30 });
    expect(record()).toMatchObject({ state: 'in-doubt', dueAt: start + settled });
    clock.advance(settled - lapsed - 1);
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    expect(bodies).toHaveLength(1);
    clock.advance(1);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect(provider.charges).toHaveLength(1);
    const verdicts = events.filter((event) => event.type === 'reconciled').map(({ verdict }) => verdict);
    // the last one twice: before the handler runs and again right before the effect
    expect(verdicts).toEqual(['settling', 'settling', 'absent', 'absent']);
  });

  test.each([
    ['unknown', () => 'unknown'],
    [
      'a throw',
      () => {
        throw new Error('psp down');
      },
    ],
    ['a rejection', () => Promise.reject(new Error('psp down'))],
    ['nothing', () => undefined],
    ['null', () => null],
    ['a boolean', () => false],
    ['an object without found', () => ({ chargeId: 'ch-1' })],
    ['a word that is none', () => 'Absent'],
    ['a server error as found', () => ({ found: { statusCode: 502, body: '' } })],
  ])('%s is no answer: in doubt, however late, and nothing runs', async (_name, says) => {
    const { pay, clock, provider, bodies, tokens, entry, charge } = await died({ charged: false });
    provider.says = says;
    for (const later of [lapsed, settled, 24 * 3600 * 1000]) {
      clock.advance(later);
      await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    }
    expect({ bodies: bodies.length, runs: tokens.length }).toEqual({ bodies: 1, runs: 1 });
    expect(entry(charge.name)).toMatchObject({ state: 'begun' });
  });

  test('an answer after 10 seconds does not count, and the question is aborted', async () => {
    const { pay, clock, provider, bodies } = await died({ charged: true });
    clock.advance(settled);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    provider.says = crash;
    let answer: unknown;
    pay().catch((error: unknown) => {
      answer = error;
    });
    await vi.advanceTimersByTimeAsync(9999);
    expect(answer).toBeUndefined();
    expect(provider.questions[0]?.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(answer).toMatchObject({ code: 'in-doubt' });
    expect(provider.questions[0]?.signal.aborted).toBe(true);
    expect(bodies).toHaveLength(1);
  });

  test('a question ends a quarter of a second before the invocation does', async () => {
    const { pay, clock, provider } = await died({ charged: true });
    clock.advance(settled);
    provider.says = crash;
    const begun = performance.now();
    await expect(pay({ getRemainingTimeInMillis: () => 350 })).rejects.toMatchObject({ code: 'in-doubt' });
    const waited = performance.now() - begun;
    expect(waited).toBeGreaterThan(95);
    expect(waited).toBeLessThan(350);
  });

  test('the question is told token, begin and index; the input only where the handler performs it again', async () => {
    const { pay, clock, provider, record, charge } = await died({ charged: false });
    clock.advance(settled);
    await pay();
    const known = {
      token: deriveKey(record().id, charge.name),
      begunAt: new Date(start),
      index: undefined,
      reference: undefined,
    };
    expect(provider.questions).toMatchObject([
      { ...known, input: undefined },
      { ...known, input: order },
    ]);
  });
});

describe('which effect a name means', () => {
  /** A process that meets the record of a dead one, and defines effects in its own way. */
  async function inAnother(
    world: EffectWorld,
    work: (claim: Claim, define: (tag: string) => Charge) => Promise<unknown>,
    name: string,
    early: string[] = [],
  ) {
    const { defineEffect, idempotent } = await otherProcess();
    const asked: string[] = [];
    const define = (tag: string): Charge =>
      defineEffect({
        name,
        run: ({ amount }, { token }) => world.provider.charge(token, amount),
        reconcile: (input, context) => {
          asked.push(tag);
          return world.provider.ask(input, context);
        },
      }) as Charge;
    for (const tag of early) define(tag);
    const bodies: number[] = [];
    const once = idempotent(
      async (_input: { id: string }, claim) => {
        bodies.push(asked.length);
        return work(claim as Claim, define);
      },
      { store: world.store, operation: world.operation, key: ({ id }) => id, onLapse: 'rerun' },
    );
    return { asked, bodies, pay: () => once({ id: 'o-1' }) };
  }

  test('another process asks before its handler runs about what it has defined and never performed', async () => {
    const world = await died({ charged: true });
    world.clock.advance(lapsed);
    const { pay, asked, bodies } = await inAnother(world, async () => 'without it', world.charge.name, [
      'one',
    ]);
    expect(await pay()).toBe('without it');
    expect({ asked, bodies }).toEqual({ asked: ['one'], bodies: [1] });
  });

  test('what it has not defined by then is asked about when it is performed', async () => {
    const world = await died({ charged: true });
    world.clock.advance(lapsed);
    const perform = (claim: Claim, define: (tag: string) => Charge) => claim.perform(define('late'), order);
    const { pay, asked, bodies } = await inAnother(world, perform, world.charge.name);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect({ asked, bodies }).toEqual({ asked: ['late'], bodies: [0] });
    expect(world.provider.charges).toHaveLength(1);
  });

  test('a name that was defined twice says nothing: only the one that is performed is asked', async () => {
    const world = await died({ charged: true });
    world.clock.advance(lapsed);
    const perform = (claim: Claim, define: (tag: string) => Charge) => claim.perform(define('meant'), order);
    const { pay, asked, bodies } = await inAnother(world, perform, world.charge.name, ['one', 'two']);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect({ asked, bodies }).toEqual({ asked: ['meant'], bodies: [0] });
  });
});

test('an entry that a newer version wrote is left alone: in doubt, no outcome over it, nothing runs', async () => {
  const { effect, wrap, provider, records, record } = effectWorld();
  const charge = effect();
  const pay = wrap((claim) => claim.perform(charge, order));
  await expect(wrap(() => Promise.reject(new Error('first')))()).rejects.toThrow('first');
  records.set(record().id, { ...record(), effects: { [charge.name]: '2{"state":"begun"}' } });
  for (const _attempt of [1, 2]) await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  expect(record().effects).toEqual({ [charge.name]: '2{"state":"begun"}' });
  expect(record().state).toBe('in-doubt');
  expect(provider).toMatchObject({ charges: [], questions: [] });
});
