import { toMilliseconds } from '../domain/duration.ts';
import { operationOf } from '../domain/identity.ts';
import { expirySeconds, nextFence, type OnceRecord, type Texts } from '../domain/record.ts';
import type { CallLimits, Written } from '../store/store.ts';
import { invalidAnswer } from './ask.ts';
import { newOwner } from './claim.ts';
import type { AnyEffect } from './effect.ts';
import { encodeSafely } from './encode.ts';
import {
  type Examined,
  examine,
  type Open,
  openBy,
  type Terms,
  type Undecided,
  verdictOf,
} from './examine.ts';
import type { Observer } from './observe.ts';
import type { LapseRule, Operation } from './operation.ts';
import { askOperation, lapsedClaim } from './reconcile.ts';

/** What a sweep works with. */
export interface Sweep {
  readonly store: Operation['store'];
  readonly effects: ReadonlyMap<string, AnyEffect>;
  readonly operations: ReadonlyMap<string, LapseRule>;
  readonly observe: Observer;
  /** How long a question may take from now, in milliseconds. */
  readonly questionTime: () => number;
  /** How long a read or a write may take from now. Nobody waits for a sweep, but it has to end in time. */
  readonly limits: () => CallLimits;
}

/** Why a record stays open. `held`: its operation wants a person. `no-reconcile`: nobody told the sweeper how to ask. */
export type Reason = Undecided | 'held' | 'no-reconcile';

/** What became of one record. */
export type Swept =
  /** Decided now. */
  | { readonly kind: 'completed' | 'released'; readonly record: OnceRecord }
  /** Not decided. `settling`: it will be, when what was sent last must have arrived. */
  | {
      readonly kind: 'in-doubt' | 'settling';
      readonly record: OnceRecord;
      readonly why: Reason;
      readonly effect?: string | undefined;
      readonly error?: string | undefined;
    }
  /** Somebody else was at it: its owner, a retry, another sweeper. */
  | { readonly kind: 'skipped' };

/** Of records that older versions wrote. */
const defaultSkew = 3000;
const defaultRetention = toMilliseconds({ hours: 24 }) ?? 0;

/** The pause before a record in doubt is asked about again doubles with every time, between these two. */
const firstPause = toMilliseconds({ minutes: 1 }) ?? 0;
const longestPause = toMilliseconds({ minutes: 15 }) ?? 0;

/** Between the time something has settled and the sweep that looks. */
const spare = toMilliseconds({ hours: 1 }) ?? 0;

/** What is in doubt lives this much longer from each sweep on, so that it outlives any holiday without sweeps. */
const kept = toMilliseconds({ days: 14 }) ?? 0;

/**
 * Settles one record by asking, never by running. Effects first, one by one; then the operation's rule. It writes on exactly the
 * owner, fence, state and open effects it saw, so whoever was quicker wins.
 */
export async function sweepRecord(sweep: Sweep, id: string): Promise<Swept> {
  const { store } = sweep;
  // judged by the clock before the look: what its owner has written since, while its lease still ran, is not in it
  const asOf = store.now();
  const record = await store.read(id, sweep.limits());
  const skew = record?.skew ?? defaultSkew;
  if (record === undefined || !isDue(record, asOf, skew)) return { kind: 'skipped' };
  const terms: Terms = { now: () => store.now(), skew, within: sweep.questionTime };
  const examined = await examineEffects(sweep, record, terms);
  if (examined.undecided !== undefined) return leave(sweep, record, examined.found, examined.undecided);
  if (record.state === 'released' || record.doubtOf === 'effects') {
    return release(sweep, record, examined.found, 'every effect is decided');
  }
  const rule = ruleOf(sweep, record);
  switch (rule.kind) {
    case 'hold':
      return leave(sweep, record, examined.found, { why: 'held' });
    case 'no-reconcile':
      return leave(sweep, record, examined.found, { why: 'no-reconcile' });
    case 'rerun':
      return release(sweep, record, examined.found, 'running again is safe');
    case 'reconcile':
      return reconcile(sweep, record, rule, examined.found, terms);
    default:
      return rule satisfies never;
  }
}

function isDue({ state, dueAt, leaseUntil }: OnceRecord, now: number, skew: number): boolean {
  if (dueAt === undefined || dueAt > now) return false;
  // a state that a newer version wrote is none of these
  return state === 'in-doubt' || state === 'released' || (state === 'claimed' && leaseUntil + skew < now);
}

/** What the sweeper was told, or else what the record says that its operation wants. */
function ruleOf({ operations }: Sweep, { id, onLapse }: OnceRecord): LapseRule | { kind: 'no-reconcile' } {
  const told = operations.get(operationOf(id));
  if (told !== undefined) return told;
  if (onLapse === 'reconcile') return { kind: 'no-reconcile' };
  return { kind: onLapse ?? 'hold' };
}

async function examineEffects(sweep: Sweep, record: OnceRecord, terms: Terms): Promise<Examined> {
  const { id } = record;
  const operation = operationOf(id);
  return examine(
    record,
    (name) => sweep.effects.get(name),
    terms,
    (effect, decision) =>
      sweep.observe({ type: 'reconciled', operation, id, ...verdictOf(decision), effect }),
  );
}

async function reconcile(
  sweep: Sweep,
  record: OnceRecord,
  rule: Extract<LapseRule, { kind: 'reconcile' }>,
  found: Texts,
  terms: Terms,
): Promise<Swept> {
  const { id } = record;
  const operation = operationOf(id);
  const verdict = await askOperation(rule, lapsedClaim(record, operation), record, terms);
  sweep.observe({ type: 'reconciled', operation, id, ...verdictOf(verdict) });
  switch (verdict.kind) {
    case 'found':
      return complete(sweep, record, found, verdict.value);
    case 'absent':
      return release(sweep, record, found, 'it did not happen');
    case 'settling':
    case 'unknown':
    case 'failed':
      return leave(sweep, record, found, openBy(verdict));
    default:
      return verdict satisfies never;
  }
}

async function complete(sweep: Sweep, record: OnceRecord, found: Texts, value: unknown): Promise<Swept> {
  const encoded = encodeSafely({ kind: 'value', value });
  if (encoded.kind === 'server-error')
    return leave(sweep, record, found, { why: 'failed', error: invalidAnswer.failed });
  const outcome = { to: 'completed', outcome: encoded.text, resolvedWhy: 'it happened' } as const;
  const written = await resolve(sweep, record, found, outcome);
  return written.kind === 'refused' ? { kind: 'skipped' } : { kind: 'completed', record };
}

/** Free to run again. An effect that did not happen is not written down: whoever wants to run it asks right before. */
async function release(sweep: Sweep, record: OnceRecord, found: Texts, resolvedWhy: string): Promise<Swept> {
  const written = await resolve(sweep, record, found, { to: 'released', resolvedWhy });
  return written.kind === 'refused' ? { kind: 'skipped' } : { kind: 'released', record };
}

async function resolve(
  { store, limits }: Sweep,
  record: OnceRecord,
  effects: Texts,
  decided: { readonly to: 'completed' | 'released'; readonly outcome?: string; readonly resolvedWhy: string },
): Promise<Written> {
  const now = store.now();
  const resolution = {
    kind: 'resolve',
    seen: record,
    owner: newOwner(),
    fence: nextFence(now, record.fence),
    endedAt: now,
    expiresAt: expirySeconds(now + (record.retention ?? defaultRetention)),
    resolvedBy: 'sweeper',
    effects,
    ...decided,
  } as const;
  return store.write(resolution, limits());
}

/**
 * It stays open: in doubt, with a pause that grows. One that is only settling is as it was, and is due again as it is, unless it
 * would expire before it has settled.
 */
async function leave(
  { store, limits }: Sweep,
  record: OnceRecord,
  effects: Texts,
  { why, effect, from, error }: Omit<Open, 'why'> & { readonly why: Reason },
): Promise<Swept> {
  const now = store.now();
  const outlives = record.expiresAt > expirySeconds((from ?? now) + spare);
  if (why === 'settling' && outlives && Object.keys(effects).length === 0) {
    return { kind: 'settling', record, why, effect, error };
  }
  const { asked = 0, retention = defaultRetention } = record;
  const written = await store.write(
    {
      kind: 'doubt',
      seen: record,
      examinedBy: newOwner(),
      doubtOf: record.state === 'released' ? 'effects' : record.doubtOf,
      expiresAt: Math.max(record.expiresAt, expirySeconds(now + Math.max(retention, kept))),
      dueAt: from ?? now + Math.min(longestPause, firstPause * 2 ** asked),
      asked: asked + 1,
      effects,
    },
    limits(),
  );
  if (written.kind === 'refused') return { kind: 'skipped' };
  return { kind: 'in-doubt', record, why, effect, error };
}
