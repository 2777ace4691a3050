import { expect, test } from 'vitest';
import type { Transition } from '../../src/domain/transition.ts';
import { type SweepReport, sweepHandler } from '../../src/sweeper.ts';
import {
  type Charge,
  crash,
  type EffectWorld,
  effectWorld,
  hurried,
  lapsed,
  order,
  settled,
  turns,
} from '../support/effects.ts';

/*
 * The nine rules of DESIGN.md, section 4: one test each, which fails when its rule is taken out of src.
 */

const sweeping = ({ store }: EffectWorld, effects: Charge[]): (() => Promise<SweepReport>) =>
  sweepHandler({ store, effects, log: () => {} });

/** An effect whose first sendings come to nothing that anybody hears of. */
function unsure(world: EffectWorld): { readonly charge: Charge; readonly recover: () => void } {
  let fails = true;
  const charge = world.effect({
    run: ({ amount }, { token }) => {
      if (fails) throw new Error('connection lost');
      return world.provider.charge(token, amount);
    },
  });
  return {
    charge,
    recover: () => {
      fails = false;
    },
  };
}

test('rule 1: absent counts only when the lease of the attempt that began it ended longer ago than settleAfter', async () => {
  const { effect, wrap, clock, provider } = effectWorld();
  // begun late under its lease, so that a count from its begin would be over earlier than one from the lease's end
  const late = 5000;
  let lives = false;
  const tokens: string[] = [];
  const charge = effect({
    settleAfter: { seconds: 20 },
    run: ({ amount }, { token }) => {
      tokens.push(token);
      return lives ? provider.charge(token, amount) : crash();
    },
  });
  const pay = wrap((claim) => {
    if (!lives) clock.advance(late);
    return claim.perform(charge, order);
  });
  void pay();
  await turns();
  lives = true;
  // what was begun at 5 s settles at 10 s of lease + 3 s of skew + 20 s
  clock.advance(33_000 - late);
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  // the dead process's last request arrives now, and is seen
  provider.charge(tokens[0] ?? '', 1200);
  clock.advance(1);
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  expect(provider.charges).toHaveLength(1);
});

test("rule 1: for an operation's own reconcile the lease of the record is what absent is counted from", async () => {
  const { wrap, clock } = effectWorld();
  let runs = 0;
  const onLapse = { reconcile: () => 'absent' as const, settleAfter: { seconds: 20 } };
  const pay = wrap(
    () => {
      runs += 1;
      return runs === 1 ? crash() : 'again';
    },
    { onLapse },
  );
  void pay();
  await turns();
  clock.advance(33_000);
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  expect(runs).toBe(1);
  clock.advance(1);
  expect(await pay()).toBe('again');
});

test('rule 2: own lease first: a process that froze over its lease sends nothing', async () => {
  const world = effectWorld();
  const { effect, wrap, provider, clock } = world;
  const charge = effect();
  // the reply to "begun" comes when the lease is over
  world.after = (name) => {
    if (name === 'begun') clock.advance(10_000);
  };
  const pay = wrap((claim) => claim.perform(charge, order));
  await expect(pay()).rejects.toMatchObject({ code: 'lease-lost', status: 503 });
  expect(provider.charges).toEqual([]);
  world.after = undefined;
  // nothing was sent, and it says so: nobody has to be asked
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  expect(provider.questions).toEqual([]);
});

test('rule 2: and not even "begun" is written when the lease is over before', async () => {
  const { effect, wrap, provider, clock, writes } = effectWorld();
  const charge = effect();
  const pay = wrap((claim) => {
    clock.advance(10_000);
    return claim.perform(charge, order);
  });
  await expect(pay()).rejects.toMatchObject({ code: 'lease-lost' });
  expect(writes).not.toContain('begun');
  expect(provider.charges).toEqual([]);
});

test('rule 3: a completion that fails is tried again; then the real answer goes out and the claim holds', async () => {
  const { effect, wrap, fail, record, writes } = effectWorld();
  const charge = effect();
  const pay = wrap((claim) => claim.perform(charge, order));
  fail('complete', 'lost', 2);
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  expect(record()).toMatchObject({ state: 'completed' });
  expect(writes.filter((name) => name === 'complete')).toHaveLength(3);

  const other = effectWorld();
  const again = other.effect();
  const failing = other.wrap((claim) => claim.perform(again, order));
  other.fail('complete', 'lost', 99);
  expect(await failing(hurried)).toEqual({ chargeId: 'ch-1' });
  expect(other.record()).toMatchObject({ state: 'claimed' });
  other.heal();
  await expect(failing()).rejects.toMatchObject({ code: 'busy' });
});

test('rule 4: with a reconcile of its own an operation holds on an error, so that nothing runs before it was asked', async () => {
  const { wrap, record, clock } = effectWorld();
  let runs = 0;
  const pay = wrap(
    () => {
      runs += 1;
      throw new Error('socket hang up');
    },
    { onLapse: () => 'unknown' },
  );
  await expect(pay()).rejects.toThrow('socket hang up');
  expect(record()).toMatchObject({ state: 'claimed' });
  clock.advance(settled);
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  expect(runs).toBe(1);

  const other = effectWorld();
  const says = { onLapse: () => 'unknown' as const, onFailure: 'release' as const };
  const released = other.wrap(() => Promise.reject(new Error('socket hang up')), says);
  await expect(released()).rejects.toThrow('socket hang up');
  expect(other.record()).toMatchObject({ state: 'released' });
});

test('rule 5: a late duplicate of "begun", or of a reference, never turns done into begun', async () => {
  const world = effectWorld();
  const { effect, wrap, store, entry, provider } = world;
  const sent: Transition[] = [];
  world.before = (name, transition) => {
    if (name === 'begun' || name === 'reference') sent.push(transition);
  };
  const charge = effect({
    run: async ({ amount }, { token, reference }) => {
      await reference('psp-1');
      return provider.charge(token, amount);
    },
  });
  let fails = true;
  const pay = wrap(async (claim) => {
    const paid = await claim.perform(charge, order);
    if (!fails) return paid;
    world.before = undefined;
    expect(sent).toHaveLength(2);
    for (const late of sent) {
      expect((await store.write(late, { budget: 100 })).kind).toBe('refused');
      expect(entry(charge.name)).toMatchObject({ state: 'done' });
    }
    throw new Error('after the charge');
  });
  await expect(pay()).rejects.toThrow('after the charge');
  fails = false;
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  expect(provider).toMatchObject({ charges: [{ chargeId: 'ch-1' }], questions: [] });
});

test.each([
  ['a value', () => 'accepted'],
  ['a recorded rejection', () => Promise.reject(Object.assign(new Error('no'), { status: 422 }))],
])('rule 6: %s is no outcome over an open effect', async (_name, end) => {
  const world = effectWorld();
  const { charge, recover } = unsure(world);
  const pay = world.wrap((claim) =>
    claim.perform(charge, order).catch((error: Error) => {
      if (error.message !== 'connection lost') throw error;
      return end();
    }),
  );
  await pay().catch(() => undefined);
  expect(world.record()).toMatchObject({ state: 'in-doubt' });
  expect(world.record().outcome).toBeUndefined();
  // it had happened after all
  world.provider.says = () => ({ found: { chargeId: 'arrived' } });
  recover();
  expect(await pay()).toEqual({ chargeId: 'arrived' });
  expect(world.provider.charges).toEqual([]);
});

test('rule 6: every later attempt asks about open effects before the body runs, also about one it would not perform', async () => {
  const world = effectWorld();
  const { charge } = unsure(world);
  const bodies: number[] = [];
  const pay = world.wrap((claim) => {
    bodies.push(world.provider.questions.length);
    return claim.attempt === 1 ? claim.perform(charge, order) : 'without it';
  });
  await expect(pay()).rejects.toThrow('connection lost');
  world.provider.says = () => 'unknown';
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  expect(bodies).toEqual([0]);
  world.provider.says = () => ({ found: { chargeId: 'arrived' } });
  expect(await pay()).toBe('without it');
  expect(bodies).toEqual([0, 2]);
  expect(world.entry(charge.name)).toMatchObject({ state: 'done' });
});

test('rule 7: absent is not written down: whoever wants to run it asks again, right before', async () => {
  const world = effectWorld();
  const { charge, recover } = unsure(world);
  const pay = world.wrap((claim) => claim.perform(charge, order));
  await expect(pay()).rejects.toThrow('connection lost');
  world.clock.advance(63_001);
  expect(await sweeping(world, [charge])()).toMatchObject({ released: 1 });
  expect(world.entry(charge.name)).toMatchObject({ state: 'begun' });
  // whatever the reason: later than anybody thought it is there
  world.provider.charge(world.provider.questions[0]?.token ?? '', 1200);
  recover();
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  expect(world.provider.charges).toHaveLength(1);
});

test('rule 8: a released record with an open effect is due for a sweep until that effect is decided', async () => {
  const world = effectWorld();
  const { charge } = unsure(world);
  const pay = world.wrap((claim) => claim.perform(charge, order));
  await expect(pay()).rejects.toThrow('connection lost');
  expect(world.record()).toMatchObject({ state: 'released' });
  const sweep = sweeping(world, [charge]);
  expect(await sweep()).toMatchObject({ examined: 0 });
  // nobody retries: it is the sweeper who finds out that it happened
  world.clock.advance(63_000);
  world.provider.says = () => 'unknown';
  expect(await sweep()).toMatchObject({
    examined: 1,
    inDoubt: 1,
    open: [{ why: 'unknown', effect: charge.name }],
  });
  world.provider.says = () => ({ found: { chargeId: 'arrived' } });
  world.clock.advance(60_000);
  expect(await sweep()).toMatchObject({ examined: 1, released: 1, inDoubt: 0 });
  expect(world.entry(charge.name)).toMatchObject({ state: 'done' });
  world.clock.advance(3_600_000);
  expect(await sweep()).toMatchObject({ examined: 0 });
  expect(await pay()).toEqual({ chargeId: 'arrived' });
});

test('rule 8: and until then no claim takes it for expired, although no sweep ever came', async () => {
  const world = effectWorld();
  const { charge, recover } = unsure(world);
  const pay = world.wrap((claim) => claim.perform(charge, order), { retention: { minutes: 1 } });
  await expect(pay()).rejects.toThrow('connection lost');
  recover();
  world.provider.says = () => ({ found: { chargeId: 'arrived' } });
  world.clock.advance(24 * 3_600_000);
  expect(await pay()).toEqual({ chargeId: 'arrived' });
  expect(world.provider.charges).toEqual([]);
});

test('rule 9: in-doubt does not expire: every sweep pushes the end, so that TTL never makes its retry a stranger', async () => {
  const world = effectWorld();
  const { records, clock, record } = world;
  /** As DynamoDB does, some time after it may. */
  const timeToLive = (): void => {
    for (const [id, { expiresAt }] of records) if (expiresAt * 1000 <= clock.now()) records.delete(id);
  };
  let runs = 0;
  const pay = world.wrap(
    () => {
      runs += 1;
      return crash();
    },
    { onLapse: 'hold', retention: { minutes: 5 } },
  );
  void pay();
  await turns();
  const sweep = sweeping(world, []);
  clock.advance(lapsed);
  const day = 24 * 3_600_000;
  for (let days = 1; days <= 40; days += 8) {
    expect(await sweep()).toMatchObject({ inDoubt: 1, open: [{ why: 'held' }] });
    expect(record().expiresAt * 1000).toBeGreaterThanOrEqual(clock.now() + 14 * day);
    clock.advance(8 * day);
    timeToLive();
  }
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  expect(runs).toBe(1);
});
