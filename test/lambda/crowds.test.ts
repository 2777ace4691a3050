import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LapsedClaim, Store } from '../../src/index.ts';
import { isIdempotencyError } from '../../src/index.ts';
import type { DuePage } from '../../src/store/store.ts';
import type { SweepReport } from '../../src/sweeper.ts';
import { Clock } from '../support/clock.ts';
import { engineClient, freshTable } from '../support/table.ts';
import { Host, idOf, order, payments, provider, settled, sweeper } from './support.ts';

const counts = ['completed', 'released', 'inDoubt', 'settling', 'skipped', 'failed'] as const;
const sum = (report: SweepReport): number => counts.reduce((total, count) => total + report[count], 0);
const names = (length: number): string[] => Array.from({ length }, (_, index) => `o-${index}`);

/** Sweepers that begin to work on what they list when all of them have listed it. */
function together(sweepers: number): {
  readonly all: Promise<void>;
  readonly joining: (store: Store) => Store;
} {
  const all = Promise.withResolvers<void>();
  let listed = 0;
  const joining = (store: Store): Store => ({
    ...store,
    async *due(before, limits) {
      const pages: DuePage[] = [];
      for await (const page of store.due(before, limits)) pages.push(page);
      listed += 1;
      if (listed === sweepers) all.resolve();
      await all.promise;
      yield* pages;
    },
  });
  return { all: all.promise, joining };
}

test('W02: two sweepers at once over 60 lapsed records count each of them once, the rest as skipped', async () => {
  const [table, clock] = [await freshTable(), new Clock()];
  const { crash, run } = payments(table.store({ now: clock.now }));
  const answers = new Map<string, unknown>();
  for (const [index, name] of names(60).entries()) {
    await crash(name);
    answers.set(idOf(name), [{ found: name }, 'absent', 'unknown'][index % 3]);
  }
  clock.advance(settled);
  const reconcile = async ({ id }: LapsedClaim) => {
    await sleep(Math.random() * 5);
    return answers.get(id) as 'absent';
  };
  const { joining } = together(2);
  const [one, other] = await Promise.all(
    [1, 2].map(async () => {
      const store = joining(table.store({ now: clock.now, client: engineClient() }));
      return sweeper({ store, operations: { pay: reconcile }, concurrency: 10 })();
    }),
  );
  const both = (count: keyof SweepReport): number => Number(one?.[count]) + Number(other?.[count]);
  expect(both('examined')).toBe(120);
  expect(
    ['completed', 'released', 'inDoubt', 'skipped', 'failed'].map((count) => both(count as 'failed')),
  ).toEqual([20, 20, 20, 60, 0]);
  expect([one, other].map((report) => report?.examined)).toEqual([
    sum(one as SweepReport),
    sum(other as SweepReport),
  ]);
  for (const record of await table.records()) {
    const state =
      { absent: 'released', unknown: 'in-doubt' }[answers.get(record.id) as string] ?? 'completed';
    expect(record.state).toBe(state);
    if (state === 'in-doubt') expect(record.asked).toBe(1);
  }
  expect(run).toHaveBeenCalledTimes(60);
});

/** Delivers until there is an answer, as a queue does. */
async function deliver(pay: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      return await pay();
    } catch (error) {
      if (!isIdempotencyError(error) || !['busy', 'in-doubt', 'lease-lost'].includes(error.code)) throw error;
      await sleep(5);
    }
  }
}

test('W02: a sweeper against live retries: of each record one goes on, and each charge is made once', async () => {
  const [table, clock, host] = [await freshTable(), new Clock(), new Host()];
  const psp = provider(host);
  const charge = psp.effect();
  const options = { host, onLapse: 'rerun' } as const;
  const newPayments = () =>
    payments(table.store({ now: clock.now, client: engineClient() }), {
      ...options,
      work: (claim) => claim.perform(charge, order),
    });
  const first = newPayments();
  for (const [index, name] of names(30).entries()) {
    // of every second one the request got lost
    psp.isUp = index % 2 === 0;
    await first.crash(name);
  }
  psp.isUp = true;
  expect(psp.charges).toHaveLength(15);
  clock.advance(settled);
  const { joining, all } = together(2);
  const sweeps = [1, 2].map(async () => {
    return sweeper({ store: joining(table.store({ now: clock.now })), effects: [charge], concurrency: 10 })();
  });
  const retries = [newPayments(), newPayments()].flatMap(({ pay }) =>
    names(30).map(async (name) => {
      await all;
      await sleep(Math.random() * 100);
      return deliver(() => pay(name));
    }),
  );
  const [reports, answers] = await Promise.all([Promise.all(sweeps), Promise.all(retries)]);
  expect(new Set(psp.charges).size).toBe(30);
  expect(psp.charges).toHaveLength(30);
  expect(answers.slice(0, 30)).toEqual(answers.slice(30));
  expect(answers.map((answer) => (answer as { charge: string }).charge).toSorted()).toEqual(
    [...psp.charges, ...psp.charges].toSorted(),
  );
  const [one, other] = reports as [SweepReport, SweepReport];
  expect([one.examined, other.examined]).toEqual([30, 30]);
  expect(one.released + other.released + one.skipped + other.skipped).toBe(60);
  expect(one.released + other.released).toBeGreaterThan(0);
  expect(one.released + other.released).toBeLessThanOrEqual(30);
  for (const record of await table.records()) expect(record).toMatchObject({ state: 'completed' });
});
