import { randomUUID } from 'node:crypto';
import type { OnceRecord, State } from '../../src/domain/record.ts';
import type { ClaimedRecord, Transition } from '../../src/domain/transition.ts';
import type { Store } from '../../src/store/store.ts';

/** A store under test, on a clock of the test's own, with a way past it to its records. */
export interface StoreUnderTest {
  readonly store: Store;
  readonly clock: { now: number };
  readonly put: (record: OnceRecord) => Promise<void>;
  readonly get: (id: string) => Promise<OnceRecord | undefined>;
}

export const limits = { budget: 5000 };
/** A whole second, so that the boundaries are easy to read. */
export const start = 1_800_000_000_000;
/** Seconds. */
const day = 86_400;

/** A live record in a state, with an id that no other test has. */
export function recordIn(state: State, parts: Partial<OnceRecord> = {}): OnceRecord {
  return {
    id: `contract#${randomUUID()}`,
    state,
    owner: 'first',
    fence: 10,
    attempt: 1,
    fingerprint: '1:meaning',
    claimedAt: start - 60_000,
    leaseUntil: start - 30_000,
    expiresAt: start / 1000 + day,
    ...(state !== 'claimed' && { endedAt: start - 40_000 }),
    ...(state === 'completed' && { outcome: '1v"first"' }),
    ...parts,
  };
}

/** What a newcomer writes. */
export function claimOn(id: string, parts: Partial<OnceRecord> = {}): ClaimedRecord {
  const claimed = recordIn('claimed', {
    id,
    owner: 'second',
    fence: 11,
    attempt: 2,
    leaseUntil: start + 30_000,
  });
  return { ...claimed, claimedAt: start, ...parts, state: 'claimed' };
}

export const ended = { endedAt: start, expiresAt: start / 1000 + 2 * day };

/** Each kind of transition, aimed exactly at a record. */
export function aimedAt(record: OnceRecord): Record<Transition['kind'], Transition> {
  return {
    claim: { kind: 'claim', now: start, record: claimOn(record.id) },
    'take-over': { kind: 'take-over', seen: record, record: claimOn(record.id) },
    complete: { kind: 'complete', held: record, outcome: '1v"mine"', ...ended },
    amend: { kind: 'amend', held: record, outcome: '1v"amended"' },
    release: { kind: 'release', held: record, forget: false, ...ended },
    doubt: { kind: 'doubt', seen: record, examinedBy: 'sweeper', expiresAt: ended.expiresAt },
    note: { kind: 'note', held: record, effects: { charge: { from: undefined, to: '1{"state":"void"}' } } },
    resolve: { kind: 'resolve', seen: record, owner: 'judge', fence: 12, to: 'released', ...ended },
  };
}

/** How a test gets its store: made once for a suite, the clock back at the start. */
export type Subject = () => Promise<StoreUnderTest>;

export const states = ['claimed', 'completed', 'released', 'in-doubt'] as const;
