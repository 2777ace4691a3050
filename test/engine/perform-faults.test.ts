import { describe, expect, test } from 'vitest';
import type { Claim } from '../../src/index.ts';
import { effectWorld, hurried, lapsed, type Options, order } from '../support/effects.ts';

/** A charge whose runs are counted, in an operation that is its only work. */
function paying(options?: Options, work?: (claim: Claim, pay: () => Promise<unknown>) => unknown) {
  const world = effectWorld();
  let runs = 0;
  const charge = world.effect({
    run: ({ amount }, { token }) => {
      runs += 1;
      return world.provider.charge(token, amount);
    },
  });
  const pay = world.wrap((claim) => {
    const perform = (): Promise<unknown> => claim.perform(charge, order);
    return work === undefined ? perform() : work(claim, perform);
  }, options);
  return { ...world, pay, runs: () => runs, slot: charge.name };
}

describe('the store fails at "begun"', () => {
  test.each(['lost', 'reply lost'] as const)(
    'the write is %s: nothing was sent, and the next attempt runs without asking',
    async (fate) => {
      const { pay, fail, runs, provider, entry, slot, record } = paying();
      fail('begun', fate);
      await expect(pay(hurried)).rejects.toMatchObject({ code: 'store', status: 503 });
      expect(runs()).toBe(0);
      expect(record()).toMatchObject({ state: 'released' });
      expect(record().dueAt).toBeUndefined();
      expect(entry(slot)).toMatchObject({ state: 'void' });
      expect(await pay()).toEqual({ chargeId: 'ch-1' });
      expect(runs()).toBe(1);
      expect(provider.questions).toEqual([]);
    },
  );

  test.each(['lost', 'reply lost'] as const)(
    'the write is %s: the same attempt may try again, and runs once',
    async (fate) => {
      const { pay, fail, runs, provider } = paying({}, async (_claim, perform) => perform().catch(perform));
      fail('begun', fate);
      expect(await pay(hurried)).toEqual({ chargeId: 'ch-1' });
      expect(runs()).toBe(1);
      expect(provider.questions).toEqual([]);
    },
  );

  test.each(['lost', 'reply lost'] as const)(
    'the write is %s: a handler that does without the effect completes',
    async (fate) => {
      const { pay, fail, record } = paying({}, (_claim, perform) => perform().catch(() => 'without'));
      fail('begun', fate);
      expect(await pay(hurried)).toBe('without');
      expect(record()).toMatchObject({ state: 'completed' });
    },
  );

  test('it lands after its sender gave it up, and the release is lost too: asked about, and run once settled', async () => {
    const { pay, fail, runs, clock, entry, slot, record } = paying();
    fail('begun', 'reply lost');
    fail('release', 'lost');
    await expect(pay(hurried)).rejects.toMatchObject({ code: 'store' });
    expect({ state: record().state, entry: entry(slot)?.state }).toEqual({
      state: 'claimed',
      entry: 'begun',
    });
    clock.advance(lapsed);
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    clock.advance(60_000);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect(runs()).toBe(1);
  });
});

describe('the store fails at "done"', () => {
  test.each(['lost', 'reply lost'] as const)('the write is %s once: it is tried again', async (fate) => {
    const { pay, fail, runs, writes, events, entry, slot } = paying();
    fail('done', fate);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect(writes).toEqual(['claim', 'begun', 'done', 'done', 'complete']);
    expect(events.some(({ type }) => type === 'store-failed')).toBe(false);
    expect({ runs: runs(), state: entry(slot)?.state }).toEqual({ runs: 1, state: 'done' });
  });

  test('for good: the handler gets the real result, and the completion writes it down', async () => {
    const { pay, fail, runs, events, entry, slot, record } = paying();
    fail('done', 'lost', 9);
    expect(await pay(hurried)).toEqual({ chargeId: 'ch-1' });
    expect(events).toMatchObject([
      { type: 'claimed' },
      { type: 'store-failed', at: 'journal', error: { code: 'store' } },
      { type: 'completed' },
    ]);
    expect(record()).toMatchObject({ state: 'completed' });
    expect(entry(slot)).toMatchObject({ state: 'done' });
    expect({ answer: await pay(), runs: runs() }).toEqual({ answer: { chargeId: 'ch-1' }, runs: 1 });
  });

  test('for good, and the handler fails after it: the release writes it down, and the next attempt has it', async () => {
    let fails = true;
    const { pay, fail, runs, provider, record } = paying({}, async (_claim, perform) => {
      const paid = await perform();
      if (fails) throw new Error('after the charge');
      return paid;
    });
    fail('done', 'lost', 9);
    await expect(pay(hurried)).rejects.toThrow('after the charge');
    expect(record().dueAt).toBeUndefined();
    fails = false;
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect({ runs: runs(), questions: provider.questions.length }).toEqual({ runs: 1, questions: 0 });
  });

  test('M09: and the completion too: the caller gets the real answer, and a later attempt asks', async () => {
    const { pay, fail, heal, runs, provider, clock, record, entry, slot } = paying();
    fail('done', 'lost', 9);
    fail('complete', 'lost', 9);
    expect(await pay(hurried)).toEqual({ chargeId: 'ch-1' });
    expect({ state: record().state, entry: entry(slot)?.state }).toEqual({
      state: 'claimed',
      entry: 'begun',
    });
    heal();
    await expect(pay()).rejects.toMatchObject({ code: 'busy' });
    clock.advance(lapsed);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect({ runs: runs(), questions: provider.questions.length }).toEqual({ runs: 1, questions: 1 });
    expect(record()).toMatchObject({ state: 'completed', attempt: 2 });
  });

  test('a final answer whose "done" fails for good is still thrown, and recorded with the outcome', async () => {
    const { effect, wrap, fail, record, entry } = effectWorld();
    const declined = Object.assign(new Error('no funds'), { status: 402 });
    const charge = effect({ run: () => Promise.reject(declined) });
    fail('done', 'lost', 9);
    await expect(wrap((claim) => claim.perform(charge, order))(hurried)).rejects.toBe(declined);
    expect(record()).toMatchObject({ state: 'completed', outcome: expect.stringContaining('no funds') });
    expect(entry(charge.name)).toMatchObject({ state: 'done' });
  });
});

test('found, and the store cannot write it down: the result is returned, and written with the completion', async () => {
  const { pay, fail, heal, runs, clock, record, entry, slot } = paying();
  fail('done', 'lost', 9);
  fail('complete', 'lost', 9);
  await pay(hurried);
  heal();
  clock.advance(lapsed);
  fail('take-over', 'lost');
  await expect(pay(hurried)).rejects.toMatchObject({ code: 'store' });
  expect(await pay(hurried)).toEqual({ chargeId: 'ch-1' });
  expect(record()).toMatchObject({ state: 'completed' });
  expect({ runs: runs(), state: entry(slot)?.state }).toEqual({ runs: 1, state: 'done' });
});

test('in doubt, and that cannot be written down: it is answered all the same, and nothing runs', async () => {
  const { pay, fail, heal, runs, clock, record, provider } = paying();
  fail('done', 'lost', 9);
  fail('complete', 'lost', 9);
  await pay(hurried);
  heal();
  clock.advance(lapsed);
  provider.says = () => 'unknown';
  fail('doubt', 'lost');
  await expect(pay(hurried)).rejects.toMatchObject({ code: 'in-doubt' });
  expect(record()).toMatchObject({ state: 'claimed' });
  await expect(pay(hurried)).rejects.toMatchObject({ code: 'in-doubt' });
  expect(record()).toMatchObject({ state: 'in-doubt' });
  expect(runs()).toBe(1);
});

test('a take-over that landed without a reply is let go with its open effect still due for a sweep', async () => {
  const { effect, wrap, clock, fail, record, entry } = effectWorld();
  let fails = true;
  const charge = effect({
    run: () => {
      if (fails) throw new Error('connection lost');
      return { chargeId: 'ch-1' };
    },
  });
  const pay = wrap((claim) => claim.perform(charge, order));
  await expect(pay()).rejects.toThrow('connection lost');
  expect(record()).toMatchObject({ state: 'released', dueAt: clock.now() + 63_000 });
  fails = false;
  clock.advance(63_001);
  fail('take-over', 'reply lost');
  await expect(pay(hurried)).rejects.toMatchObject({ code: 'store' });
  expect(record()).toMatchObject({ state: 'released' });
  expect(entry(charge.name)).toMatchObject({ state: 'begun' });
  expect(record().dueAt).toBeDefined();
});
