import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunContext } from '../../src/index.ts';
import { crash, effectWorld, lapsed, order, turns } from '../support/effects.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('a reference is in the record when its promise resolves, while run still runs', async () => {
  const { effect, wrap, entry, writes } = effectWorld();
  const seen: unknown[] = [];
  const charge = effect({
    run: async (_order, { reference }) => {
      seen.push(entry(charge.name));
      await reference('psp-1');
      seen.push(entry(charge.name));
      await reference('psp-2');
      seen.push(entry(charge.name));
      return { chargeId: 'ch-1' };
    },
  });
  await wrap((claim) => claim.perform(charge, order))();
  expect(seen[0]).not.toHaveProperty('reference');
  expect(seen.slice(1)).toMatchObject([
    { state: 'begun', reference: 'psp-1' },
    { state: 'begun', reference: 'psp-2' },
  ]);
  expect(writes).toEqual(['claim', 'begun', 'reference', 'reference', 'done', 'complete']);
  expect(entry(charge.name)).toMatchObject({ state: 'done', reference: 'psp-2' });
});

test('a process that dies right after it leaves it for the question', async () => {
  const { effect, wrap, provider, clock } = effectWorld();
  const charge = effect({
    run: async ({ amount }, { token, reference }) => {
      await reference(`psp-of-${token}`);
      provider.charge(token, amount);
      return crash();
    },
  });
  const pay = wrap((claim) => claim.perform(charge, order));
  void pay();
  await turns();
  clock.advance(lapsed);
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  expect(provider.questions).toHaveLength(1);
  expect(provider.questions[0]?.reference).toBe(`psp-of-${provider.questions[0]?.token}`);
});

test('one that nobody awaits is written before the result, and a later one behind an earlier', async () => {
  const { effect, wrap, writes, entry } = effectWorld();
  const charge = effect({
    run: (_order, { reference }) => {
      void reference('psp-1');
      void reference('psp-2');
      return { chargeId: 'ch-1' };
    },
  });
  await wrap((claim) => claim.perform(charge, order))();
  expect(writes).toEqual(['claim', 'begun', 'reference', 'reference', 'done', 'complete']);
  expect(entry(charge.name)).toMatchObject({ state: 'done', reference: 'psp-2' });
});

test('one that nobody awaits and that fails ends nothing: the effect goes on and is done', async () => {
  const { effect, wrap, fail, entry } = effectWorld();
  fail('reference', 'lost');
  const charge = effect({
    run: async (_order, { reference }) => {
      void reference('psp-1');
      await turns();
      return { chargeId: 'ch-1' };
    },
  });
  expect(await wrap((claim) => claim.perform(charge, order))()).toEqual({ chargeId: 'ch-1' });
  await turns();
  expect(entry(charge.name)).toMatchObject({ state: 'done', reference: 'psp-1' });
});

test('one that is awaited and fails is told to run, which may go on; what it told is written with the next', async () => {
  const { effect, wrap, fail, entry } = effectWorld();
  fail('reference', 'lost');
  let told: unknown;
  const charge = effect({
    run: async (_order, { reference }) => {
      await reference('psp-1').catch((error: unknown) => {
        told = error;
      });
      return { chargeId: 'ch-1' };
    },
  });
  await wrap((claim) => claim.perform(charge, order))();
  expect(told).toMatchObject({ code: 'store' });
  expect(entry(charge.name)).toMatchObject({ state: 'done', reference: 'psp-1' });
});

test.each(['lost', 'reply lost'] as const)(
  'a run that throws because its reference was %s stays open, with it',
  async (fate) => {
    const { effect, wrap, fail, entry, record } = effectWorld();
    fail('reference', fate);
    const charge = effect({
      run: async (_order, { reference }) => {
        await reference('psp-1');
        return { chargeId: 'ch-1' };
      },
    });
    await expect(wrap((claim) => claim.perform(charge, order))()).rejects.toMatchObject({ code: 'store' });
    expect(entry(charge.name)).toMatchObject({ state: 'begun', reference: 'psp-1' });
    expect(record().dueAt).toBeDefined();
  },
);

test.each(['returned', 'threw'] as const)(
  'after its run %s a reference is refused, and nothing is written',
  async (how) => {
    const { effect, wrap, writes, entry } = effectWorld();
    let late: RunContext['reference'] | undefined;
    const charge = effect({
      run: (_order, { reference }) => {
        late = reference;
        if (how === 'threw') throw Object.assign(new Error('declined'), { status: 402 });
        return { chargeId: 'ch-1' };
      },
    });
    const pay = wrap(async (claim) => {
      await claim.perform(charge, order).catch(() => undefined);
      await expect(late?.('psp-1')).rejects.toMatchObject({ code: 'input-invalid' });
    });
    await pay();
    await expect(late?.('psp-2')).rejects.toMatchObject({ code: 'input-invalid' });
    expect(writes).toEqual(['claim', 'begun', 'done', 'complete']);
    expect(entry(charge.name)).not.toHaveProperty('reference');
  },
);

test.each(['', 'x'.repeat(1025), 42, undefined])('%s is no reference', async (id) => {
  const { effect, wrap, writes } = effectWorld();
  const charge = effect({
    run: async (_order, { reference }) => {
      await expect(reference(id as string)).rejects.toMatchObject({ code: 'input-invalid' });
      return { chargeId: 'ch-1' };
    },
  });
  await wrap((claim) => claim.perform(charge, order))();
  expect(writes).not.toContain('reference');
});

test('S04: under a claim that was given away it is lease-lost, and the new owner keeps what it wrote', async () => {
  const { effect, wrap, clock, record, provider } = effectWorld();
  const { promise, resolve } = Promise.withResolvers<void>();
  let told: unknown;
  const charge = effect({
    run: async ({ amount }, { token, attempt, reference }) => {
      if (attempt === 2) return provider.charge(token, amount);
      await promise;
      await reference('psp-late').catch((error: unknown) => {
        told = error;
      });
      return { chargeId: 'late' };
    },
    settleAfter: { milliseconds: 0 },
  });
  const pay = wrap((claim) => claim.perform(charge, order));
  const first = pay();
  await turns();
  clock.advance(lapsed);
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  const standing = record();
  resolve();
  await expect(first).rejects.toMatchObject({ code: 'lease-lost' });
  expect(told).toMatchObject({ code: 'lease-lost' });
  expect(record()).toEqual(standing);
});
