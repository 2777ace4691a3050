import { randomUUID } from 'node:crypto';
import { deriveKey } from '../domain/derive.ts';
import { type Duration, toMilliseconds } from '../domain/duration.ts';
import { recordId } from '../domain/identity.ts';
import {
  closed,
  decodeEntry,
  doneWith,
  type Entry,
  encodeEntry,
  openEntries,
  partsOf,
  voided,
} from '../domain/journal.ts';
import { checkOptions, isBoolean, isDuration, isText, isWord, oneOf, type Rule } from '../domain/options.ts';
import { decodeOutcome, encodeOutcome, type Outcome, type Rejection } from '../domain/outcome.ts';
import {
  expirySeconds,
  isExpired,
  isLapsed,
  nextFence,
  type OnceRecord,
  type Texts,
  textOf,
} from '../domain/record.ts';
import { apply, type Transition } from '../domain/transition.ts';
import { IdempotencyError } from '../errors.ts';
import type { Store, StoreDriver } from './store.ts';

/** Which operation. `scope` is `'none'` for operations that have none. */
export interface LookupQuery {
  readonly operation: string;
  readonly scope: string;
  readonly key: string;
  /**
   * How much later than its lease a claim counts as lapsed. Default: what the operation said, which the record keeps.
   */
  readonly skew?: Duration | undefined;
  /** Also return the stored answer. Default `false`: a status page should not leak bodies. */
  readonly withOutcome?: boolean | undefined;
}

/** Where an operation stands, for people and programs. */
export interface Lookup {
  /** The record's id: safe to log. */
  readonly id: string;
  /** `claimed`: running; `lapsed`: its lease is over and nobody knows; the rest as in the record. */
  readonly state: 'claimed' | 'lapsed' | 'completed' | 'rejected' | 'released' | 'in-doubt';
  readonly fence: number;
  readonly attempt: number;
  readonly claimedAt: Date;
  readonly leaseUntil: Date;
  readonly endedAt?: Date;
  readonly expiresAt: Date;
  readonly resolvedBy?: string;
  readonly resolvedWhy?: string;
  /** Milliseconds since it was claimed last. */
  readonly age: number;
  /** When a sweep looks at it next. Only there while something is open. */
  readonly dueAt?: Date;
  /** How often a sweep could not settle it. */
  readonly asked?: number;
  /** What the journal says of its effects, in the order they were begun. */
  readonly effects: readonly LookupEffect[];
  /** Names of the values it captured. */
  readonly captured: readonly string[];
  readonly outcome?: Outcome;
}

/** One effect in the journal. */
export interface LookupEffect {
  readonly name: string;
  readonly index?: number;
  /** The key that the provider was given: ask it by this. */
  readonly token: string;
  /** `begun`: nobody wrote how it ended. `void`: it was not sent, or a person said that it did not happen. */
  readonly state: 'begun' | 'done' | 'void' | 'unreadable';
  readonly begunAt?: Date;
  /** The provider's id, as far as it was told. */
  readonly reference?: string;
  /** What an open one's input was, where the effect keeps it; only with `withOutcome`. */
  readonly input?: unknown;
}

/** How a person or a program settles an operation that lapsed or is in doubt. */
export type Resolution = Omit<LookupQuery, 'withOutcome'> & {
  /** Who decides: kept in the record. Not a secret, not a customer's name. */
  readonly by: string;
  /** Why: kept in the record. */
  readonly why: string;
  /** The fence that a lookup showed; when given, the record must still carry it. */
  readonly fence?: number | undefined;
  /** How long the outcome replays. Default: the operation's own retention, which the record keeps. */
  readonly retention?: Duration | undefined;
} /** `value` is the result; for HTTP the whole answer: `{ statusCode, headers, body }`. */ & (
    | { readonly as: 'completed'; readonly value: unknown }
    | { readonly as: 'rejected'; readonly rejection: Rejection }
    /**
     * Free to run again. You say with it that no open effect of the journal happened, but for those in `found`: their results, by
     * the effect's name, with `#` and the index where there is one.
     */
    | { readonly as: 'released'; readonly found?: Readonly<Record<string, unknown>> | undefined }
  );

/** A person is not in a hurry, a broken store should still be noticed. */
const limits = { budget: 5000 };
/** Milliseconds, of records that older versions wrote. */
const defaultSkew = 3000;
const defaultRetention = 24 * 3600 * 1000;

const lookupRules: Record<keyof LookupQuery, Rule> = {
  operation: isText,
  scope: isText,
  key: isText,
  skew: isDuration({ milliseconds: 0 }, { minutes: 1 }),
  withOutcome: isBoolean,
};

const { withOutcome: _withOutcome, ...identityRules } = lookupRules;

const resolveRules = {
  ...identityRules,
  as: isWord('completed', 'rejected', 'released'),
  by: isText,
  why: isText,
  fence: oneOf('a whole number, as a lookup shows it', Number.isSafeInteger),
  retention: isDuration({ seconds: 1 }, { days: 1827 }),
  value: oneOf('the result; for HTTP the whole answer', () => true),
  found: oneOf('an object of results by effect', (value) => typeof value === 'object' && value !== null),
  rejection: oneOf('{ name, message } and perhaps status and code', isRejection),
};

/** Adds what people need to what the engine needs. */
export function withInspection(driver: StoreDriver): Store {
  return Object.assign(driver, {
    lookup: (query: LookupQuery) => lookup(driver, query),
    resolve: (resolution: Resolution) => resolve(driver, resolution),
  });
}

async function lookup(driver: StoreDriver, query: LookupQuery): Promise<Lookup | undefined> {
  checkOptions('lookup', query, lookupRules, ['operation', 'scope', 'key']);
  const record = await driver.read(recordId(query), limits);
  if (record === undefined || isExpired(record, driver.now())) return undefined;
  return describe(record, driver.now(), query);
}

async function resolve(driver: StoreDriver, resolution: Resolution): Promise<Lookup> {
  checkOptions('resolve', resolution, resolveRules, ['operation', 'scope', 'key', 'as', 'by', 'why']);
  const id = recordId(resolution);
  const record = await driver.read(id, limits);
  const now = driver.now();
  if (record === undefined || isExpired(record, now)) {
    throw new IdempotencyError('lease-lost', 'There is no record of this operation.', { id });
  }
  if (resolution.fence !== undefined && record.fence !== resolution.fence) {
    throw new IdempotencyError('lease-lost', 'The record is no longer what was seen: look it up again.', {
      id,
    });
  }
  if (!isToBeResolved(record, now, skewOf(resolution, record))) throw notOpen(record);
  const decision = decide(record, resolution, now);
  const written = await driver.write(decision, limits);
  if (written.kind === 'refused') {
    throw new IdempotencyError('lease-lost', 'The record changed while it was resolved: look it up again.', {
      id,
    });
  }
  return describe(apply(decision, record), now, { ...resolution, withOutcome: true });
}

/** Lapsed, in doubt, or released with an effect that nobody has decided. */
function isToBeResolved(record: OnceRecord, now: number, skew: number): boolean {
  if (record.state === 'released') return record.dueAt !== undefined;
  return record.state === 'in-doubt' || isLapsed(record, now, skew);
}

function notOpen(record: OnceRecord): IdempotencyError {
  return record.state === 'claimed'
    ? new IdempotencyError('busy', 'The claim is live: resolve it when its lease is over.', { id: record.id })
    : new IdempotencyError('already-applied', `The record is ${record.state}: nothing to resolve.`, {
        id: record.id,
      });
}

function decide(record: OnceRecord, resolution: Resolution, now: number): Transition {
  const retention = toMilliseconds(resolution.retention) ?? record.retention ?? defaultRetention;
  return {
    kind: 'resolve',
    seen: record,
    owner: randomUUID(),
    fence: nextFence(now, record.fence),
    endedAt: now,
    expiresAt: expirySeconds(now + retention),
    resolvedBy: resolution.by,
    resolvedWhy: resolution.why,
    effects: journalAfter(record, resolution),
    ...verdictOf(resolution),
  };
}

/** An outcome speaks for its effects. Whoever releases instead has to say of each open one whether it happened. */
function journalAfter({ effects = {} }: OnceRecord, resolution: Resolution): Texts {
  if (resolution.as !== 'released') return closed(effects);
  const open = openEntries(effects);
  const results = Object.entries(resolution.found ?? {}).map(([slot, result]) => {
    const text = textOf(open, slot);
    const entry = text === undefined ? undefined : decodeEntry(text);
    if (entry?.state !== 'begun') {
      throw new IdempotencyError(
        'options',
        `resolve: "found" names "${slot}", which is no open effect of the record.`,
      );
    }
    return [slot, encodeEntry(doneWith(entry, outcomeText({ kind: 'value', value: result })))] as const;
  });
  return { ...voided(open), ...Object.fromEntries(results) };
}

function verdictOf(resolution: Resolution): { to: 'released' } | { to: 'completed'; outcome: string } {
  if (resolution.as === 'released') return { to: 'released' };
  return { to: 'completed', outcome: outcomeText(outcomeOf(resolution)) };
}

function outcomeText(outcome: Outcome): string {
  const encoded = encodeOutcome(outcome);
  if (encoded.kind === 'server-error') {
    throw new IdempotencyError('options', `resolve: a ${encoded.status} is no outcome; release instead.`);
  }
  if (encoded.kind === 'not-kept') throw new IdempotencyError('options', `resolve: ${encoded.detail}.`);
  return encoded.text;
}

function outcomeOf(resolution: Extract<Resolution, { as: 'completed' | 'rejected' }>): Outcome {
  if (resolution.as === 'completed') return { kind: 'value', value: resolution.value };
  if (resolution.rejection !== undefined) return { kind: 'rejection', rejection: resolution.rejection };
  throw new IdempotencyError('options', 'resolve: as "rejected" needs the option "rejection".');
}

function isRejection(value: unknown): boolean {
  const { name, message } = Object(value) as Partial<Rejection>;
  return typeof name === 'string' && typeof message === 'string';
}

function describe(record: OnceRecord, now: number, query: LookupQuery): Lookup {
  const outcome = record.state === 'completed' ? decodeOutcome(record.outcome) : undefined;
  return {
    id: record.id,
    state: stateOf(record, outcome, now, skewOf(query, record)),
    fence: record.fence,
    attempt: record.attempt,
    claimedAt: new Date(record.claimedAt),
    leaseUntil: new Date(record.leaseUntil),
    expiresAt: new Date(record.expiresAt * 1000),
    age: Math.max(0, now - record.claimedAt),
    effects: describeEffects(record, query.withOutcome === true),
    captured: Object.keys(record.values ?? {}),
    ...(record.dueAt !== undefined && { dueAt: new Date(record.dueAt) }),
    ...(record.asked !== undefined && { asked: record.asked }),
    ...(record.endedAt !== undefined && { endedAt: new Date(record.endedAt) }),
    ...(record.resolvedBy !== undefined && { resolvedBy: record.resolvedBy }),
    ...(record.resolvedWhy !== undefined && { resolvedWhy: record.resolvedWhy }),
    ...(query.withOutcome === true && outcome !== undefined && { outcome }),
  };
}

function describeEffects({ id, effects = {} }: OnceRecord, withInput: boolean): LookupEffect[] {
  return Object.entries(effects)
    .map(([slot, text]) => [partsOf(slot), decodeEntry(text)] as const)
    .sort(([, one], [, other]) => begunAt(one) - begunAt(other))
    .map(([{ name, index }, entry]) => {
      const facts = entry.state === 'begun' || entry.state === 'done' ? entry : undefined;
      const input = entry.state === 'begun' && withInput ? entry.input : undefined;
      return {
        name,
        ...(index !== undefined && { index }),
        token: deriveKey(id, name, index),
        state: entry.state,
        ...(facts !== undefined && { begunAt: new Date(facts.begunAt) }),
        ...(facts?.reference !== undefined && { reference: facts.reference }),
        ...(input !== undefined && { input: textValue(input) }),
      };
    });
}

function begunAt(entry: Entry): number {
  return 'begunAt' in entry ? entry.begunAt : 0;
}

function textValue(text: string): unknown {
  const outcome = decodeOutcome(text);
  return outcome.kind === 'value' ? outcome.value : undefined;
}

function skewOf({ skew }: Pick<LookupQuery, 'skew'>, record: OnceRecord): number {
  return toMilliseconds(skew) ?? record.skew ?? defaultSkew;
}

function stateOf(
  record: OnceRecord,
  outcome: Outcome | undefined,
  now: number,
  skew: number,
): Lookup['state'] {
  if (isLapsed(record, now, skew)) return 'lapsed';
  return outcome?.kind === 'rejection' ? 'rejected' : record.state;
}
