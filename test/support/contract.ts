import { describe, expect, test } from 'vitest';
import type { State } from '../../src/domain/record.ts';
import type { Transition } from '../../src/domain/transition.ts';
import type { Written } from '../../src/store/store.ts';
import { dueContract } from './contract-due.ts';
import { expiryContract } from './contract-expiry.ts';
import { inspectContract } from './contract-inspect.ts';
import { journalContract } from './contract-journal.ts';
import {
  aimedAt,
  claimOn,
  limits,
  recordIn,
  type StoreUnderTest,
  type Subject,
  start,
  states,
} from './contract-records.ts';

/** What each write does to a live record that is exactly as it was seen. Claim and absence have tests of their own. */
const expected: Record<Exclude<Transition['kind'], 'claim'>, Record<State, Written['kind']>> = {
  'take-over': { claimed: 'applied', completed: 'applied', released: 'applied', 'in-doubt': 'applied' },
  complete: { claimed: 'applied', completed: 'refused', released: 'refused', 'in-doubt': 'applied' },
  amend: { claimed: 'refused', completed: 'applied', released: 'refused', 'in-doubt': 'refused' },
  release: { claimed: 'applied', completed: 'refused', released: 'applied-before', 'in-doubt': 'refused' },
  doubt: { claimed: 'applied', completed: 'applied', released: 'applied', 'in-doubt': 'applied' },
  resolve: { claimed: 'applied', completed: 'applied', released: 'applied', 'in-doubt': 'applied' },
  note: { claimed: 'applied', completed: 'refused', released: 'refused', 'in-doubt': 'refused' },
};

/** The contract that every store keeps. `make` is called once; every test has records of its own. */
export function storeContract(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`store contract: ${name}`, () => {
    let made: Promise<StoreUnderTest> | undefined;
    const subject = async (): Promise<StoreUnderTest> => {
      made ??= make();
      const under = await made;
      under.clock.now = start;
      return under;
    };
    conditions(subject);
    strangers(subject);
    replies(subject);
    expiryContract(subject);
    inspectContract(subject);
    journalContract(subject);
    dueContract(subject);
  });
}

function conditions(subject: Subject): void {
  for (const [kind, row] of Object.entries(expected)) {
    test.each(states)(`${kind} on a %s record that is as it was seen`, async (state) => {
      const { store, put, get } = await subject();
      const record = recordIn(state);
      await put(record);
      const written = await store.write(aimedAt(record)[kind as keyof typeof expected], limits);
      const wanted = row[state];
      expect(written).toEqual(wanted === 'refused' ? { kind: 'refused', record } : { kind: wanted });
      if (wanted !== 'applied') expect(await get(record.id)).toEqual(record);
    });
  }

  test.each(states)(
    'S03 S04 S05: no write of another owner, fence or state touches a record that is %s',
    async (state) => {
      const { store, put, get } = await subject();
      const record = recordIn(state);
      await put(record);
      const otherState = state === 'released' ? 'claimed' : 'released';
      const strays = [
        { ...record, owner: 'somebody' },
        { ...record, fence: 9 },
        { ...record, fence: 11 },
        { ...record, state: otherState } as const,
      ];
      for (const seen of strays) {
        const { 'take-over': over, doubt, resolve, complete, release } = aimedAt(seen);
        const ofOwners = seen.state === state ? [complete, release] : [];
        // two who find the same claim in doubt agree: the second one's doubt counts as said
        const ofDoubters = state === 'in-doubt' && seen.state !== state ? [] : [doubt];
        for (const transition of [over, resolve, ...ofDoubters, ...ofOwners]) {
          expect(await store.write(transition, limits), transition.kind).toEqual({ kind: 'refused', record });
        }
      }
      expect(await get(record.id)).toEqual(record);
    },
  );
}

function strangers(subject: Subject): void {
  test('where there is no record, a claim is applied, a release counts as done, the rest is refused', async () => {
    const { store, get } = await subject();
    const { claim, release, ...others } = aimedAt(recordIn('claimed'));
    expect(await store.write(release, limits)).toEqual({ kind: 'applied-before' });
    for (const transition of Object.values(others)) {
      expect(await store.write(transition, limits)).toEqual({ kind: 'refused', record: undefined });
    }
    expect(await store.write(claim, limits)).toEqual({ kind: 'applied' });
    expect(claim.kind === 'claim' && (await get(claim.record.id))).toEqual(
      claim.kind === 'claim' && claim.record,
    );
  });

  test.each(states)('a claim on a live %s record is refused and gets to see it', async (state) => {
    const { store, put, get } = await subject();
    const record = recordIn(state);
    await put(record);
    expect(await store.write(aimedAt(record).claim, limits)).toEqual({ kind: 'refused', record });
    expect(await get(record.id)).toEqual(record);
  });

  test('S01 P05: of fifty claims at once exactly one wins, and the others see it', async () => {
    const { store, get } = await subject();
    const { id } = recordIn('claimed');
    const claims = Array.from({ length: 50 }, (_, index) => claimOn(id, { owner: `owner-${index}` }));
    const all = await Promise.all(
      claims.map((record) => store.write({ kind: 'claim', now: start, record }, limits)),
    );
    expect(all.filter(({ kind }) => kind === 'applied')).toHaveLength(1);
    const winner = claims[all.findIndex(({ kind }) => kind === 'applied')];
    expect(await get(id)).toEqual(winner);
    for (const written of all) {
      if (written.kind !== 'applied') expect(written).toEqual({ kind: 'refused', record: winner });
    }
  });
}

function replies(subject: Subject): void {
  test.each(['take-over', 'complete', 'release', 'doubt', 'resolve', 'note'] as const)(
    'S01 S02: the same %s twice, as after a lost reply, is applied before',
    async (kind) => {
      const { store, put, get } = await subject();
      const record = recordIn('claimed');
      await put(record);
      const transition = aimedAt(record)[kind];
      expect(await store.write(transition, limits)).toEqual({ kind: 'applied' });
      const after = await get(record.id);
      expect(await store.write(transition, limits)).toEqual({ kind: 'applied-before' });
      expect(await get(record.id)).toEqual(after);
    },
  );

  test('S01 S03: the same claim twice is applied before; the same claim by a fresh owner is not', async () => {
    const { store } = await subject();
    const { id } = recordIn('claimed');
    const record = claimOn(id);
    const claim = { kind: 'claim', now: start, record } as const;
    expect(await store.write(claim, limits)).toEqual({ kind: 'applied' });
    expect(await store.write(claim, limits)).toEqual({ kind: 'applied-before' });
    const retry = { ...claim, record: { ...record, owner: 'a fresh one' } };
    expect(await store.write(retry, limits)).toEqual({ kind: 'refused', record });
  });
}
