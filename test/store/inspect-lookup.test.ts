import { describe, expect, test } from 'vitest';
import type { OnceRecord } from '../../src/domain/record.ts';
import { deriveKey, type Store } from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';
import { Host, idOf, minute, order, payments, provider, second, sweeper } from '../lambda/support.ts';
import { Clock } from '../support/clock.ts';
import { freshTable } from '../support/table.ts';

interface Subject {
  readonly clock: Clock;
  readonly store: Store;
  readonly put: (record: OnceRecord) => Promise<unknown>;
  readonly get: () => Promise<OnceRecord | undefined>;
}

const subjects: [string, () => Promise<Subject>][] = [
  [
    'in memory',
    async () => {
      const [clock, records] = [new Clock(), new Map<string, OnceRecord>()];
      return {
        clock,
        store: memoryStore({ now: clock.now, records }),
        put: async (record) => records.set(record.id, record),
        get: async () => [...records.values()][0],
      };
    },
  ],
  [
    'on the engine',
    async () => {
      const [clock, table] = [new Clock(), await freshTable()];
      const get = async () => (await table.records())[0];
      return {
        clock,
        store: table.store({ now: clock.now }),
        put: (record: OnceRecord) => table.put(record),
        get,
      };
    },
  ],
];

const which = { operation: 'pay', scope: 'none', key: 'o-1' };

describe.each(subjects)('lookup %s', (_, subject) => {
  test('shows the journal in the order it was begun: name, index, token, state, reference, time', async () => {
    const { clock, store } = await subject();
    const host = new Host();
    const psp = provider(host);
    const effects = ['first', 'second', 'third'].map(() => psp.effect());
    // begun against the order of their names
    const [last, middle, first] = effects.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const begun = clock.now();
    const named = psp.effect({ also: ({ reference }) => reference('charge 7') });
    const { crash } = payments(store, {
      host,
      lease: { minutes: 10 },
      work: async (claim) => {
        if (first === undefined || middle === undefined || last === undefined) return;
        await claim.perform(first, order);
        clock.advance(second);
        await claim.perform(middle, order, 1);
        clock.advance(second);
        await claim.perform(middle, order, 0);
        clock.advance(second);
        await claim.perform(named, order);
        clock.advance(second);
        await claim.perform(last, order);
      },
    });
    // all of them return but the last one, where the host dies
    await crash('o-1', 1, 4);
    const id = idOf('o-1');
    const at = (seconds: number) => new Date(begun + seconds * second);
    const lookup = await store.lookup(which);
    expect(lookup?.effects).toEqual([
      { name: first?.name, token: deriveKey(id, first?.name ?? ''), state: 'done', begunAt: at(0) },
      {
        name: middle?.name,
        index: 1,
        token: deriveKey(id, middle?.name ?? '', 1),
        state: 'done',
        begunAt: at(1),
      },
      {
        name: middle?.name,
        index: 0,
        token: deriveKey(id, middle?.name ?? '', 0),
        state: 'done',
        begunAt: at(2),
      },
      {
        name: named.name,
        token: deriveKey(id, named.name),
        state: 'done',
        begunAt: at(3),
        reference: 'charge 7',
      },
      { name: last?.name, token: deriveKey(id, last?.name ?? ''), state: 'begun', begunAt: at(4) },
    ]);
    expect(lookup?.effects.map(({ token }) => token)).toEqual(psp.charges);
  });

  test('shows age, when a sweep looks next, how often one asked, and the names of what was captured', async () => {
    const { clock, store } = await subject();
    const { crash } = payments(store, {
      skew: { seconds: 4 },
      work: async (claim, host) => {
        await claim.capture({ quotedAt: () => 'now', rate: () => 1.08 });
        await host.mayDie();
      },
    });
    await crash();
    const claimed = clock.now();
    const first = await store.lookup(which);
    expect(first).toMatchObject({
      state: 'claimed',
      age: 0,
      dueAt: new Date(claimed + 14 * second),
      effects: [],
    });
    expect(first).not.toHaveProperty('asked');
    expect(first?.captured.toSorted()).toEqual(['quotedAt', 'rate']);
    expect(JSON.stringify(first)).not.toContain('1.08');
    clock.advance(minute);
    await sweeper({ store })();
    clock.advance(minute);
    await sweeper({ store })();
    expect(await store.lookup(which)).toMatchObject({
      state: 'in-doubt',
      age: 2 * minute,
      asked: 2,
      dueAt: new Date(clock.now() + 2 * minute),
    });
  });

  test('a completed operation is due to nobody, and keeps what it did without the results', async () => {
    const { store } = await subject();
    const psp = provider(new Host());
    const charge = psp.effect({ also: ({ reference }) => reference('charge 7') });
    await payments(store, { work: (claim) => claim.perform(charge, order) }).pay();
    const lookup = await store.lookup({ ...which, withOutcome: true });
    expect(lookup).toMatchObject({ state: 'completed', effects: [{ state: 'done', reference: 'charge 7' }] });
    expect(lookup).not.toHaveProperty('dueAt');
    expect(lookup?.effects[0]).not.toHaveProperty('input');
    expect(lookup?.outcome).toEqual({ kind: 'value', value: { charge: psp.charges[0] } });
  });

  test("H18: an open effect's input is shown where the effect keeps it, and only to those who ask", async () => {
    const { store } = await subject();
    const host = new Host();
    const [keeping, plain] = [provider(host).effect({ keepInput: true }), provider(host).effect()];
    const { crash } = payments(store, {
      host,
      work: (claim) => Promise.all([claim.perform(keeping, order), claim.perform(plain, order)]),
    });
    await crash('o-1', 2);
    const [quiet, full] = [await store.lookup(which), await store.lookup({ ...which, withOutcome: true })];
    expect(JSON.stringify(quiet)).not.toContain('1200');
    const inputs = Object.fromEntries(full?.effects.map(({ name, input }) => [name, input]) ?? []);
    expect(inputs).toEqual({ [keeping.name]: order, [plain.name]: undefined });
  });

  test('an entry that a newer version wrote is shown as unreadable, and does not hide the rest', async () => {
    const { store, put, get } = await subject();
    const host = new Host();
    const charge = provider(host).effect();
    await payments(store, { host, work: (claim) => claim.perform(charge, order) }).crash();
    const record = (await get()) as OnceRecord;
    await put({ ...record, effects: { ...record.effects, refund: '9{"state":"half"}' } });
    const lookup = await store.lookup(which);
    expect(lookup?.effects.map(({ name, state }) => [name, state])).toEqual([
      ['refund', 'unreadable'],
      [charge.name, 'begun'],
    ]);
  });

  test("a claim is lapsed by the operation's own skew, which the record keeps, unless the query says another", async () => {
    const { clock, store } = await subject();
    await payments(store, { skew: { seconds: 30 } }).crash();
    clock.advance(40 * second);
    expect(await store.lookup(which)).toMatchObject({ state: 'claimed' });
    expect(await store.lookup({ ...which, skew: { seconds: 3 } })).toMatchObject({ state: 'lapsed' });
    clock.advance(1);
    expect(await store.lookup(which)).toMatchObject({ state: 'lapsed' });
    expect(await store.lookup({ ...which, skew: { minutes: 1 } })).toMatchObject({ state: 'claimed' });
  });
});
