import { expect, test } from 'vitest';
import { sweepHandler } from '../../src/sweeper.ts';
import {
  type Charge,
  crash,
  type EffectWorld,
  effectWorld,
  lapsed,
  order,
  turns,
} from '../support/effects.ts';

/** A charge that the first attempt is told the result of only when the test says so. */
function slow(world: EffectWorld) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const attempts: number[] = [];
  const charge = world.effect({
    settleAfter: { milliseconds: 0 },
    run: async ({ amount }, { token, attempt }) => {
      attempts.push(attempt);
      const paid = world.provider.charge(token, amount);
      if (attempt === 1) await promise;
      return paid;
    },
  });
  return { charge, attempts, arrive: resolve };
}

test('the owner writes "done" while its retry asks: the take-over is refused, and the retry goes by what stands', async () => {
  const world = effectWorld();
  const { wrap, provider, clock, record } = world;
  const { charge, attempts, arrive } = slow(world);
  const pay = wrap((claim) => claim.perform(charge, order));
  const first = pay();
  await turns();
  clock.advance(lapsed);
  provider.says = async () => {
    provider.says = undefined;
    arrive();
    expect(await first).toEqual({ chargeId: 'ch-1' });
    return 'absent';
  };
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  expect(attempts).toEqual([1]);
  expect(record()).toMatchObject({ state: 'completed', attempt: 1 });
});

test('the owner writes "done" and lives on while a sweep asks: the sweep leaves it alone', async () => {
  const world = effectWorld();
  const { wrap, provider, clock, record, entry, store } = world;
  const { charge, attempts, arrive } = slow(world);
  const pay = wrap(async (claim) => {
    await claim.perform(charge, order);
    return crash();
  });
  void pay();
  await turns();
  clock.advance(lapsed);
  provider.says = async () => {
    arrive();
    await turns();
    return 'unknown';
  };
  const sweep = sweepHandler({ store, effects: [charge], log: () => {} });
  expect(await sweep()).toMatchObject({ examined: 1, skipped: 1 });
  expect({ state: record().state, entry: entry(charge.name)?.state }).toEqual({
    state: 'claimed',
    entry: 'done',
  });
  expect(attempts).toEqual([1]);
});

test('S04: in doubt, the owner comes back late: "done" is written, its answer completes, the retry replays it', async () => {
  const world = effectWorld();
  const { wrap, provider, clock, record } = world;
  const { charge, arrive } = slow(world);
  const pay = wrap((claim) => claim.perform(charge, order), { onLapse: 'hold' });
  const first = pay();
  await turns();
  clock.advance(lapsed);
  provider.says = () => 'unknown';
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  arrive();
  expect(await first).toEqual({ chargeId: 'ch-1' });
  expect(record()).toMatchObject({ state: 'completed' });
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
  expect(provider.charges).toHaveLength(1);
});

test('L04: of many retries that find it at once one takes it over; all of them are told the one result, or busy', async () => {
  const world = effectWorld();
  const { wrap, provider, clock } = world;
  let lives = false;
  const charge = world.effect({
    run: ({ amount }, { token }) => {
      const paid = provider.charge(token, amount);
      return lives ? paid : crash();
    },
  });
  let bodies = 0;
  const pay = wrap((claim) => {
    bodies += 1;
    return claim.perform(charge, order);
  });
  void pay();
  await turns();
  lives = true;
  clock.advance(lapsed);
  for (const call of await Promise.allSettled(Array.from({ length: 8 }, () => pay()))) {
    if (call.status === 'rejected') expect(call.reason).toMatchObject({ code: 'busy' });
    else expect(call.value).toEqual({ chargeId: 'ch-1' });
  }
  expect({ bodies, charges: provider.charges.length }).toEqual({ bodies: 2, charges: 1 });
});

/** A second process whose answer from the store comes when its first attempt has long begun, sent and died. */
async function frozen(
  look: (world: EffectWorld, charge: Charge, pay: () => Promise<unknown>) => Promise<unknown>,
) {
  const world = effectWorld();
  const { wrap, provider, clock } = world;
  const body = Promise.withResolvers<void>();
  const charge = world.effect({
    run: ({ amount }, { token, attempt }) => {
      const paid = provider.charge(token, amount);
      return attempt === 1 ? crash() : paid;
    },
  });
  const pay = wrap(async (claim) => {
    if (claim.attempt === 1) await body.promise;
    return claim.perform(charge, order);
  });
  void pay();
  await turns();
  const thaw = async (): Promise<void> => {
    // the owner is alive by every clock: it begins, sends, and dies
    body.resolve();
    await turns();
    expect(provider.charges).toHaveLength(1);
    clock.advance(lapsed);
  };
  return { ...world, charge, thaw, look: () => look(world, charge, pay) };
}

test('a retry that froze between the answer of the store and its own clock does not charge again', async () => {
  const world = await frozen(async (_world, _charge, pay) => pay());
  let isFirst = true;
  world.store.write = ((write) => async (transition, limits) => {
    const written = await write(transition, limits);
    if (transition.kind === 'claim' && isFirst) {
      isFirst = false;
      await world.thaw();
    }
    return written;
  })(world.store.write.bind(world.store));
  // it judges the record by when it was looked at, when its owner was alive
  await expect(world.look()).rejects.toMatchObject({ code: 'busy' });
  expect(world.provider.charges).toHaveLength(1);
  expect(await world.look()).toEqual({ chargeId: 'ch-1' });
  expect(world.provider.charges).toHaveLength(1);
});

test('a sweep that froze so does not release over an effect that it has not seen', async () => {
  const world = await frozen(async ({ store }, charge) =>
    sweepHandler({ store, effects: [charge], log: () => {} })(),
  );
  const { store, record, entry, charge } = world;
  // an index may be behind its table: it lists the record for what was due before its last claim
  store.due = async function* () {
    yield { ids: [record().id], from: 'index' };
  };
  store.read = ((read) => async (id, limits) => {
    const seen = await read(id, limits);
    await world.thaw();
    return seen;
  })(store.read.bind(store));
  await world.look();
  const isUnasked = record().state === 'released' && entry(charge.name)?.state === 'begun';
  expect({ isUnasked, isDue: record().dueAt !== undefined }).not.toEqual({ isUnasked: true, isDue: false });
});
