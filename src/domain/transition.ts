import { openEntries } from './journal.ts';
import { isExpired, type OnceRecord, type State, type Texts, textOf } from './record.ts';

/** A record as somebody saw it: what a later write is conditioned on. */
export type Seen = Pick<OnceRecord, 'id' | 'owner' | 'fence' | 'state'> & {
  readonly dueAt?: number | undefined;
  readonly effects?: Texts | undefined;
};

/** The claim that its owner holds. */
export type Held = Pick<OnceRecord, 'id' | 'owner' | 'fence'>;

/** What a claim writes; or, where there is no claim before the commit, the outcome itself. */
export type ClaimedRecord = OnceRecord & { readonly state: 'claimed' | 'completed' };

/** A text that takes another one's place, which is named: `undefined` where there was none. */
export interface Change {
  readonly from: string | undefined;
  readonly to: string;
}
export type Changes = Readonly<Record<string, Change>>;

/**
 * Every move a record can make, each of them one conditional write. There is no other way to change a record, and none
 * to delete one: a release is an update, so the fence, the journal and the captured values survive it.
 */
export type Transition =
  /** Put, if there is no record or only an expired one with a smaller fence. */
  | { readonly kind: 'claim'; readonly now: number; readonly record: ClaimedRecord }
  /** A released, lapsed, in-doubt or expired record becomes ours, if it is still exactly what was seen. */
  | {
      readonly kind: 'take-over';
      readonly seen: Seen;
      readonly record: ClaimedRecord;
      /** Effects that were found to have happened. */
      readonly effects?: Texts | undefined;
    }
  /** The owner writes into its journal, or what it captured. `late`: also after somebody put the record in doubt. */
  | {
      readonly kind: 'note';
      readonly held: Held;
      readonly effects?: Changes;
      readonly values?: Changes;
      readonly late?: boolean;
    }
  /** The owner ends its claim with an outcome, also late, as long as nobody replaced it. */
  | ({ readonly kind: 'complete'; readonly held: Held; readonly outcome: string } & Ending)
  /** The owner has committed; middlewares have changed the answer since. */
  | { readonly kind: 'amend'; readonly held: Held; readonly outcome: string }
  /** The owner ends its claim without an outcome. `forget` unbinds the key from the payload: nothing had run. */
  | ({
      readonly kind: 'release';
      readonly held: Held;
      readonly forget: boolean;
      /** When a sweep should look, where an effect is open. */
      readonly dueAt?: number | undefined;
    } & Ending)
  /** Whether something happened is not known. Owner and fence stay: a late owner may still complete. */
  | {
      readonly kind: 'doubt';
      readonly seen: Seen;
      /** Fresh random id: of two who put it in doubt, one did. */
      readonly examinedBy: string;
      readonly doubtOf?: 'effects' | undefined;
      readonly expiresAt: number;
      readonly dueAt?: number | undefined;
      readonly asked?: number | undefined;
      readonly effects?: Texts | undefined;
    }
  /** Reconcile or a person decides what is open. A new owner and fence shut the old one out. */
  | ({
      readonly kind: 'resolve';
      readonly seen: Seen;
      readonly owner: string;
      readonly fence: number;
      readonly to: 'completed' | 'released';
      readonly outcome?: string | undefined;
      readonly resolvedBy?: string | undefined;
      readonly resolvedWhy?: string | undefined;
    } & Ending);

interface Ending {
  readonly endedAt: number;
  readonly expiresAt: number;
  /** Entries of the journal that change with it. */
  readonly effects?: Texts | undefined;
}

/** A transition other than the first claim: it changes a record that is there. */
type Update = Exclude<Transition, { kind: 'claim' }>;

/** What must stand in the record for an update to be made. */
export interface Guard {
  readonly owner: string;
  readonly fence: number;
  readonly states: readonly State[];
  /** Fields that must be as given; one that is named and `undefined` must not be there. */
  readonly dueAt?: { readonly was: number | undefined };
  readonly effects: Readonly<Record<string, string | undefined>>;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/** What an update writes. Members that are `undefined` stay as they are. */
export interface Patch {
  readonly set: { readonly [field in keyof OnceRecord]?: OnceRecord[field] | undefined };
  readonly remove: readonly (keyof OnceRecord)[];
}

/** The record a transition is about. */
export function targetOf(transition: Transition): string {
  if ('held' in transition) return transition.held.id;
  return transition.kind === 'claim' ? transition.record.id : transition.seen.id;
}

/** The condition of an update: owner, fence and state for all of them. */
export function guardOf(transition: Update): Guard {
  switch (transition.kind) {
    case 'take-over':
    case 'resolve':
      return { ...asSeen(transition.seen), values: {} };
    case 'doubt': {
      const { seen } = transition;
      return { ...asSeen(seen), dueAt: { was: seen.dueAt }, values: {} };
    }
    case 'note': {
      const { held, effects, values, late } = transition;
      const states: State[] = late === true ? ['claimed', 'in-doubt'] : ['claimed'];
      return { ...holderOf(held), states, effects: before(effects), values: before(values) };
    }
    case 'complete':
      return { ...holderOf(transition.held), states: ['claimed', 'in-doubt'], effects: {}, values: {} };
    case 'amend':
      return { ...holderOf(transition.held), states: ['completed'], effects: {}, values: {} };
    case 'release':
      return { ...holderOf(transition.held), states: ['claimed'], effects: {}, values: {} };
    default:
      return transition satisfies never;
  }
}

function holderOf({ owner, fence }: Held): Pick<Guard, 'owner' | 'fence'> {
  return { owner, fence };
}

/** Whoever decides by what an open effect was must find it so: its owner may just have written how it ended. */
function asSeen({ owner, fence, state, effects }: Seen): Omit<Guard, 'values'> {
  return { owner, fence, states: [state], effects: openEntries(effects) };
}

/** What a record does not take along into its next life. */
const ofOneLife = [
  'dueAt',
  'endedAt',
  'outcome',
  'resolvedBy',
  'resolvedWhy',
  'doubtOf',
  'asked',
  'examinedBy',
] as const;

/** What an update writes, where its guard holds. */
export function patchOf(transition: Update): Patch {
  switch (transition.kind) {
    case 'take-over': {
      const { record, effects } = transition;
      return {
        set: { ...record, effects },
        remove: ofOneLife.filter((field) => record[field] === undefined),
      };
    }
    case 'note': {
      const { effects, values } = transition;
      return { set: { effects: after(effects), values: after(values) }, remove: [] };
    }
    case 'complete': {
      const { outcome, endedAt, expiresAt, effects } = transition;
      return { set: { state: 'completed', outcome, endedAt, expiresAt, effects }, remove: ['dueAt'] };
    }
    case 'amend':
      return { set: { outcome: transition.outcome }, remove: [] };
    case 'release': {
      const { endedAt, expiresAt, effects, forget, dueAt } = transition;
      const unbound = forget ? (['fingerprint'] as const) : [];
      return {
        set: { state: 'released', endedAt, expiresAt, effects, dueAt },
        remove: [...unless(dueAt, 'dueAt'), ...unbound],
      };
    }
    case 'doubt': {
      const { kind: _kind, seen: _seen, doubtOf, ...set } = transition;
      return { set: { ...set, doubtOf, state: 'in-doubt' }, remove: unless(doubtOf, 'doubtOf') };
    }
    case 'resolve': {
      const { kind: _kind, seen: _seen, to, ...set } = transition;
      return { set: { ...set, state: to }, remove: ['dueAt'] };
    }
    default:
      return transition satisfies never;
  }
}

function unless<Field extends keyof OnceRecord>(given: unknown, field: Field): Field[] {
  return given === undefined ? [field] : [];
}

function before(changes: Changes = {}): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(changes).map(([name, { from }]) => [name, from]));
}

function after(changes: Changes | undefined): Texts | undefined {
  if (changes === undefined) return undefined;
  return Object.fromEntries(Object.entries(changes).map(([name, { to }]) => [name, to]));
}

/** The condition of the write, as a predicate. The DynamoDB expressions say the same; one suite compares the two. */
export function permits(transition: Transition, record: OnceRecord | undefined): boolean {
  if (transition.kind === 'claim') {
    if (record === undefined) return true;
    return isExpired(record, transition.now) && record.fence < transition.record.fence;
  }
  if (record === undefined) return false;
  const { states, dueAt, effects, values, ...holder } = guardOf(transition);
  return (
    heldBy(record, holder) &&
    states.includes(record.state) &&
    (dueAt === undefined || dueAt.was === record.dueAt) &&
    isStill(record.effects, effects) &&
    isStill(record.values, values)
  );
}

function isStill(texts: Texts | undefined, wanted: Readonly<Record<string, string | undefined>>): boolean {
  return Object.entries(wanted).every(([name, text]) => textOf(texts, name) === text);
}

/** The record after a permitted transition. */
export function apply(transition: Transition, record: OnceRecord | undefined): OnceRecord {
  if (transition.kind === 'claim') return transition.record;
  if (record === undefined) throw new Error('only a claim creates a record');
  const { set, remove } = patchOf(transition);
  const kept = Object.entries(record).filter(([field]) => !remove.includes(field as keyof OnceRecord));
  const { effects, values, ...fields } = set;
  const written = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries([...kept, ...written]) as unknown as OnceRecord),
    ...merged('effects', record.effects, effects),
    ...merged('values', record.values, values),
  };
}

function merged(field: 'effects' | 'values', stored: Texts | undefined, given: Texts | undefined): object {
  const texts = { ...stored, ...given };
  return Object.keys(texts).length === 0 ? {} : { [field]: texts };
}

/**
 * "Condition failed" has three readings: applied, already applied by me, lost to someone else. This tells the second
 * from the third: a reply that was lost and retried by the SDK meets our own write.
 */
export function appliedByMe(transition: Transition, record: OnceRecord | undefined): boolean {
  switch (transition.kind) {
    case 'claim':
    case 'take-over':
      return record?.state === transition.record.state && heldBy(record, transition.record);
    case 'note': {
      const { effects, values } = patchOf(transition).set;
      return (
        record !== undefined &&
        heldBy(record, transition.held) &&
        isStill(record.effects, effects ?? {}) &&
        isStill(record.values, values ?? {})
      );
    }
    case 'complete':
    case 'amend':
      return (
        record?.state === 'completed' &&
        heldBy(record, transition.held) &&
        record.outcome === transition.outcome
      );
    case 'release':
      return record === undefined || (record.state === 'released' && heldBy(record, transition.held));
    case 'doubt':
      return record?.state === 'in-doubt' && record.examinedBy === transition.examinedBy;
    case 'resolve':
      return record?.state === transition.to && heldBy(record, transition);
    default:
      return transition satisfies never;
  }
}

function heldBy(record: OnceRecord, holder: { readonly owner: string; readonly fence: number }): boolean {
  return record.owner === holder.owner && record.fence === holder.fence;
}
