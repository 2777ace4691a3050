import { describe, expect, test } from 'vitest';
import { encodeEntry } from '../../src/domain/journal.ts';
import type { OnceRecord } from '../../src/domain/record.ts';
import type { Transition } from '../../src/domain/transition.ts';
import type { Store, Written } from '../../src/store/store.ts';
import { aimedAt, ended, limits, recordIn, type Subject, start, states } from './contract-records.ts';

export const begun: string = encodeEntry({ state: 'begun', begunAt: start, until: start + 1, digest: '1:d' });
export const begunLater: string = encodeEntry({
  state: 'begun',
  begunAt: start,
  until: start + 9,
  digest: '1:d',
});
export const done: string = encodeEntry({ state: 'done', begunAt: start, digest: '1:d', outcome: '1v1' });

type Note = Extract<Transition, { kind: 'note' }>;
const note = (held: OnceRecord, parts: Omit<Note, 'kind' | 'held'>): Note => ({
  kind: 'note',
  held,
  ...parts,
});

/** The journal and the captured values of a record. */
export function journalContract(subject: Subject): void {
  describe('notes', () => {
    entries(subject);
    owners(subject);
    values(subject);
  });
  describe('the journal in other writes', () => {
    merges(subject);
    guards(subject);
  });
}

/** A record of the store under test, and what became of a write to it. */
async function made(subject: Subject, record: OnceRecord) {
  const { store, put, get } = await subject();
  await put(record);
  return {
    store,
    write: (transition: Transition): Promise<Written> => store.write(transition, limits),
    get: () => get(record.id),
    /** Refused, told what stands there, and nothing changed. */
    refuses: async (transition: Transition, standing: OnceRecord = record): Promise<void> => {
      expect(await store.write(transition, limits)).toEqual({ kind: 'refused', record: standing });
      expect(await get(record.id)).toEqual(standing);
    },
  };
}

function entries(subject: Subject): void {
  test('an entry begins where there is none, once; the same again, as after a lost reply, is applied before', async () => {
    const record = recordIn('claimed');
    const { write, get, refuses } = await made(subject, record);
    const begin = note(record, { effects: { charge: { from: undefined, to: begun } } });
    expect(await write(begin)).toEqual({ kind: 'applied' });
    expect(await get()).toEqual({ ...record, effects: { charge: begun } });
    expect(await write(begin)).toEqual({ kind: 'applied-before' });
    await refuses(note(record, { effects: { charge: { from: undefined, to: begunLater } } }), {
      ...record,
      effects: { charge: begun },
    });
  });

  test('an entry is replaced only where exactly the text that was seen stands', async () => {
    const record = recordIn('claimed', { effects: { charge: begun, ship: done } });
    const { write, get, refuses } = await made(subject, record);
    await refuses(note(record, { effects: { charge: { from: begunLater, to: done } } }));
    await refuses(note(record, { effects: { refund: { from: begun, to: done } } }));
    expect(await write(note(record, { effects: { charge: { from: begun, to: done } } }))).toEqual({
      kind: 'applied',
    });
    expect(await get()).toEqual({ ...record, effects: { charge: done, ship: done } });
  });

  test('a late duplicate of "begun" never turns done into begun', async () => {
    const record = recordIn('claimed');
    const { write, refuses } = await made(subject, record);
    const begin = note(record, { effects: { charge: { from: undefined, to: begun } } });
    const refer = note(record, { effects: { charge: { from: begun, to: begunLater } }, late: true });
    const finish = note(record, { effects: { charge: { from: begunLater, to: done } }, late: true });
    for (const each of [begin, refer, finish]) expect(await write(each)).toEqual({ kind: 'applied' });
    for (const late of [begin, refer]) await refuses(late, { ...record, effects: { charge: done } });
    expect(await write(finish)).toEqual({ kind: 'applied-before' });
  });

  test('several entries and values in one: all of them or none', async () => {
    const record = recordIn('claimed', { effects: { ship: begun }, values: { at: '1v1' } });
    const { write, get, refuses } = await made(subject, record);
    const both = {
      effects: { charge: { from: undefined, to: begun }, ship: { from: begun, to: done } },
      values: { rate: { from: undefined, to: '1v2' }, note: { from: undefined, to: '1v""' } },
    };
    await refuses(note(record, { ...both, values: { ...both.values, at: { from: undefined, to: '1v3' } } }));
    await refuses(
      note(record, { ...both, effects: { ...both.effects, ship: { from: undefined, to: done } } }),
    );
    expect(await write(note(record, both))).toEqual({ kind: 'applied' });
    expect(await get()).toEqual({
      ...record,
      effects: { charge: begun, ship: done },
      values: { at: '1v1', rate: '1v2', note: '1v""' },
    });
    expect(await write(note(record, both))).toEqual({ kind: 'applied-before' });
  });

  test.each(['charge#0', 'a.b/c:d-e_F9', 'state', 'x'.repeat(64), '0', 'constructor', 'toString'])(
    'an effect and a value may be called %s',
    async (name) => {
      const record = recordIn('claimed');
      const { write, get } = await made(subject, record);
      const change = { [name]: { from: undefined, to: begun } };
      expect(await write(note(record, { effects: change, values: change }))).toEqual({ kind: 'applied' });
      expect(await get()).toEqual({ ...record, effects: { [name]: begun }, values: { [name]: begun } });
      const forth = note(record, { effects: { [name]: { from: begun, to: done } } });
      expect([await write(forth), await write(forth)]).toEqual([
        { kind: 'applied' },
        { kind: 'applied-before' },
      ]);
    },
  );
}

function owners(subject: Subject): void {
  test.each(states)(
    'S03 S04: of a %s record only its owner writes notes, and only under its fence',
    async (state) => {
      const record = recordIn(state, { effects: { charge: begun } });
      const { refuses } = await made(subject, record);
      const change = { effects: { charge: { from: begun, to: done } } };
      for (const held of [
        { ...record, owner: 'somebody' },
        { ...record, fence: 9 },
        { ...record, fence: 11 },
      ]) {
        for (const late of [true, false]) await refuses(note(held, { ...change, late }));
      }
    },
  );

  test.each([
    ['claimed', false, 'applied'],
    ['claimed', true, 'applied'],
    ['in-doubt', false, 'refused'],
    ['in-doubt', true, 'applied'],
    ['completed', true, 'refused'],
    ['released', true, 'refused'],
  ] as const)('a note on a %s record, late: %s, is %s', async (state, late, kind) => {
    const record = recordIn(state, { effects: { charge: begun } });
    const { write, get } = await made(subject, record);
    const written = await write(note(record, { late, effects: { charge: { from: begun, to: done } } }));
    expect(written).toEqual(kind === 'applied' ? { kind } : { kind, record });
    expect(await get()).toEqual(kind === 'applied' ? { ...record, effects: { charge: done } } : record);
  });
}

function values(subject: Subject): void {
  test('of two values captured at once under one name one stands, and the other is told which', async () => {
    const record = recordIn('claimed');
    const { write, get } = await made(subject, record);
    const texts = Array.from({ length: 10 }, (_, index) => `1v${index}`);
    const all = await Promise.all(
      texts.map((to) => write(note(record, { values: { at: { from: undefined, to } } }))),
    );
    expect(all.filter(({ kind }) => kind === 'applied')).toHaveLength(1);
    const standing = { ...record, values: { at: texts[all.findIndex(({ kind }) => kind === 'applied')] } };
    expect(await get()).toEqual(standing);
    for (const written of all)
      if (written.kind !== 'applied') expect(written).toEqual({ kind: 'refused', record: standing });
  });
}

/** What every write that may change the journal on its way is, aimed at a record. */
function withEffects(record: OnceRecord, effects: Record<string, string>): Transition[] {
  const { complete, release, doubt, resolve, 'take-over': over } = aimedAt(record);
  return [complete, release, doubt, resolve, over].map((each) => ({ ...each, effects }) as Transition);
}

function merges(subject: Subject): void {
  const names = ['complete', 'release', 'doubt', 'resolve', 'take-over'] as const;
  test.each(names)(
    '%s changes the entries that it names and leaves the others and the values',
    async (kind) => {
      const record = recordIn('claimed', { effects: { charge: begun, ship: done }, values: { at: '1v1' } });
      const { write, get } = await made(subject, record);
      const transition = withEffects(record, { charge: done, mail: begun }).find(
        (each) => each.kind === kind,
      );
      expect(await write(transition as Transition)).toEqual({ kind: 'applied' });
      expect(await get()).toMatchObject({
        effects: { charge: done, ship: done, mail: begun },
        values: { at: '1v1' },
      });
      expect(await write(transition as Transition)).toEqual({ kind: 'applied-before' });
    },
  );

  test('a release keeps journal and values, and with what is open the time of its next sweep', async () => {
    const record = recordIn('claimed', { effects: { charge: begun }, values: { at: '1v1' }, dueAt: start });
    const { write, get } = await made(subject, record);
    const release = { kind: 'release', held: record, forget: false, dueAt: start + 500, ...ended } as const;
    expect(await write(release)).toEqual({ kind: 'applied' });
    expect(await get()).toEqual({ ...record, ...ended, state: 'released', dueAt: start + 500 });
    const over = aimedAt({ ...record, state: 'released' })['take-over'];
    expect(await write(over)).toEqual({ kind: 'applied' });
    expect(await get()).toMatchObject({
      state: 'claimed',
      attempt: 2,
      effects: { charge: begun },
      values: { at: '1v1' },
    });
  });

  test('a claim on an expired record drops its journal and its values', async () => {
    for (const state of ['claimed', 'completed', 'released'] as const) {
      const record = recordIn(state, { effects: { charge: begun }, values: { at: '1v1' }, expiresAt: 1 });
      const { write, get } = await made(subject, record);
      const { claim } = aimedAt(record);
      expect(await write(claim)).toEqual({ kind: 'applied' });
      expect(await get()).toEqual(claim.kind === 'claim' && claim.record);
    }
  });

  test.each([
    [start + 5, 'refused'],
    [undefined, 'applied'],
  ] as const)(
    'a released record that is due for a sweep never expires: dueAt %s, a claim is %s',
    async (dueAt, kind) => {
      const record = recordIn('released', { expiresAt: 1, ...(dueAt !== undefined && { dueAt }) });
      const { write, get } = await made(subject, record);
      const { claim } = aimedAt(record);
      expect(await write(claim)).toEqual(kind === 'applied' ? { kind } : { kind, record });
      expect(await get()).toEqual(kind === 'applied' ? claim.kind === 'claim' && claim.record : record);
    },
  );
}

function guards(subject: Subject): void {
  const examiners = ['take-over', 'resolve', 'doubt'] as const;
  test.each(examiners)('%s is refused when an open entry is not as it was seen', async (kind) => {
    for (const state of ['claimed', 'in-doubt', 'released'] as const) {
      const seen = recordIn(state, { effects: { charge: begun } });
      for (const standing of [{ charge: done }, { charge: begunLater }, undefined]) {
        const { effects: _effects, ...bare } = seen;
        const record = standing === undefined ? bare : { ...bare, effects: standing };
        const { refuses } = await made(subject, record);
        await refuses(aimedAt(seen)[kind], record);
      }
    }
  });

  test.each(examiners)(
    '%s does not mind that what was decided before is told otherwise now',
    async (kind) => {
      const seen = recordIn('claimed', { effects: { charge: begun, ship: done } });
      const { write } = await made(subject, { ...seen, effects: { charge: begun } });
      expect(await write(aimedAt(seen)[kind])).toEqual({ kind: 'applied' });
    },
  );

  test('the owner may complete and release whatever its journal says meanwhile', async () => {
    for (const kind of ['complete', 'release'] as const) {
      const seen = recordIn('claimed', { effects: { charge: begun } });
      const { write } = await made(subject, { ...seen, effects: { charge: done } });
      expect(await write(aimedAt(seen)[kind])).toEqual({ kind: 'applied' });
    }
  });

  test.each(['claimed', 'in-doubt', 'released'] as const)(
    'W02: of two who examined a %s record and leave it open, one puts it off, the other is told so',
    async (state) => {
      const record = recordIn(state, { dueAt: start, effects: { charge: begun } });
      const { store, get } = await made(subject, record);
      const doubt = (examinedBy: string, dueAt: number): ReturnType<Store['write']> =>
        store.write(
          { kind: 'doubt', seen: record, examinedBy, expiresAt: ended.expiresAt, dueAt, asked: 1 },
          limits,
        );
      const both = await Promise.all([doubt('a', start + 60_000), doubt('b', start + 61_000)]);
      const winner = both.findIndex(({ kind }) => kind === 'applied');
      const standing = await get();
      expect(standing).toMatchObject({
        state: 'in-doubt',
        owner: record.owner,
        fence: record.fence,
        examinedBy: ['a', 'b'][winner],
        dueAt: [start + 60_000, start + 61_000][winner],
        asked: 1,
      });
      expect(both[1 - winner]).toEqual({ kind: 'refused', record: standing });
      expect(await doubt(['a', 'b'][winner] ?? '', 0)).toEqual({ kind: 'applied-before' });
    },
  );

  test('who saw no time for a sweep is refused where there is one now, and the other way round', async () => {
    for (const [was, is] of [
      [undefined, start],
      [start, undefined],
      [start, start + 1],
    ]) {
      const bare = recordIn('in-doubt');
      const at = (dueAt: number | undefined): OnceRecord => (dueAt === undefined ? bare : { ...bare, dueAt });
      const { refuses } = await made(subject, at(is));
      await refuses(aimedAt(at(was)).doubt, at(is));
    }
  });
}
