import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, expect, inject, test } from 'vitest';
import type { OnceRecord } from '../../src/domain/record.ts';
import type { Transition } from '../../src/domain/transition.ts';
import { toRecord } from '../../src/store/dynamo/item.ts';
import { memoryStore } from '../../src/testing.ts';
import { claimOn, limits, start } from '../support/contract-records.ts';
import { freshTable } from '../support/table.ts';

const begun = '1{"state":"begun"}';
const done = '1{"state":"done"}';

/** A transition to be, still without the record it aims at: mostly at the one that is there, sometimes beside it. */
const step = fc.record({
  kind: fc.constantFrom('claim', 'take-over', 'complete', 'release', 'doubt', 'resolve', 'note', 'note'),
  aim: fc.constantFrom('exact', 'exact', 'exact', 'owner', 'fence', 'state', 'before'),
  owner: fc.constantFrom('a', 'b', 'c'),
  fence: fc.integer({ min: 1, max: 4 }),
  outcome: fc.constantFrom('1u', '1v1', '1v2'),
  /** Seconds from the start, in the past as well. */
  expiry: fc.integer({ min: -2, max: 4 }),
  forget: fc.boolean(),
  /** What a note replaces, and by what; the texts are journal entries, so that some are open. */
  change: fc.record({
    slot: fc.constantFrom('charge', 'charge#0'),
    from: fc.constantFrom(undefined, begun, done, 'as it is'),
    to: fc.constantFrom(begun, done),
    isValue: fc.boolean(),
  }),
  bound: fc.boolean(),
  /** Sent once more, as after a lost reply. */
  twice: fc.boolean(),
  /** The clock goes on by this many milliseconds. */
  pause: fc.constantFrom(0, 1, 500, 1000, 2500),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const dynamo = await freshTable();
const clock = { now: start };
const onTable = dynamo.store({ now: () => clock.now });
afterAll(() => dynamo.client.destroy());

test(`the same moves lead to the same answers and records in memory and on ${inject('engine').kind}`, async () => {
  const reached = new Set<string>();
  const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
    const id = `differential#${randomUUID()}`;
    const records = new Map<string, OnceRecord>();
    const inMemory = memoryStore({ now: () => clock.now, records });
    clock.now = start;
    let before: OnceRecord | undefined;
    for (const each of steps) {
      clock.now += each.pause;
      const standing = records.get(id);
      const transition = aimed(each, id, each.aim === 'before' ? (before ?? standing) : standing);
      before = standing;
      for (const sent of each.twice ? [transition, transition] : [transition]) {
        const [wanted, given] = await Promise.all([
          inMemory.write(sent, limits),
          onTable.write(sent, limits),
        ]);
        expect(given).toEqual(wanted);
        expect(toRecord(await dynamo.item(id))).toEqual(records.get(id));
        reached.add(`${sent.kind} ${wanted.kind}`);
      }
    }
  });
  await fc.assert(property, { numRuns: 100 });
  // otherwise the comparison would be of refusals only
  for (const kind of ['claim', 'take-over', 'complete', 'release', 'doubt', 'resolve', 'note']) {
    for (const written of ['applied', 'applied-before', 'refused']) {
      expect(reached).toContain(`${kind} ${written}`);
    }
  }
});

function aimed(each: Step, id: string, standing: OnceRecord | undefined): Transition {
  const { kind, aim, owner, fence, outcome, expiry, forget, change } = each;
  const base = standing ?? claimOn(id, { owner, fence });
  const seen = {
    ...base,
    ...(aim === 'owner' && { owner }),
    ...(aim === 'fence' && { fence }),
    ...(aim === 'state' && { state: fence % 2 === 0 ? ('released' as const) : ('claimed' as const) }),
  };
  const effects = forget ? { [change.slot]: change.to } : undefined;
  const dueAt = fence % 2 === 0 ? clock.now : undefined;
  const ending = { endedAt: clock.now, expiresAt: start / 1000 + expiry, effects };
  const { fingerprint, ...unbound } = claimOn(id, { owner, fence, expiresAt: ending.expiresAt });
  const record = each.bound ? { ...unbound, fingerprint: fingerprint ?? '' } : unbound;
  switch (kind) {
    case 'claim':
      return { kind, now: clock.now, record };
    case 'take-over':
      return { kind, seen, record, effects };
    case 'note': {
      const field = change.isValue ? 'values' : 'effects';
      const from = change.from === 'as it is' ? base[field]?.[change.slot] : change.from;
      return { kind, held: seen, [field]: { [change.slot]: { from, to: change.to } }, late: forget };
    }
    case 'complete':
      return { kind, held: seen, outcome, ...ending };
    case 'release':
      return { kind, held: seen, forget, dueAt, ...ending };
    case 'doubt':
      return { kind, seen, examinedBy: outcome, expiresAt: ending.expiresAt, dueAt, effects };
    default: {
      const decided = { kind: 'resolve', seen, owner, fence, ...ending } as const;
      const note = forget ? {} : { resolvedBy: 'ops', resolvedWhy: 'because' };
      if (fence % 2 === 0) return { ...decided, ...note, to: 'released' };
      return { ...decided, ...note, to: 'completed', outcome };
    }
  }
}
