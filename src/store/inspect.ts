import { randomUUID } from 'node:crypto';
import { type Duration, toMilliseconds } from '../domain/duration.ts';
import { recordId } from '../domain/identity.ts';
import { checkOptions, isBoolean, isDuration, isText, isWord, oneOf, type Rule } from '../domain/options.ts';
import { decodeOutcome, encodeOutcome, type Outcome, type Rejection } from '../domain/outcome.ts';
import { expirySeconds, isExpired, isLapsed, nextFence, type OnceRecord } from '../domain/record.ts';
import { apply, type Transition } from '../domain/transition.ts';
import { IdempotencyError } from '../errors.ts';
import type { Store, StoreDriver } from './store.ts';

/** Which operation. `scope` is `'none'` for operations that have none. */
export interface LookupQuery {
  readonly operation: string;
  readonly scope: string;
  readonly key: string;
  /** The operation's `skew`, where it is not the default of 3 seconds: it decides when a claim counts as lapsed. */
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
  readonly outcome?: Outcome;
}

/** How a person or a program settles an operation that lapsed or is in doubt. */
export type Resolution = Omit<LookupQuery, 'withOutcome'> & {
  /** Who decides: kept in the record. Not a secret, not a customer's name. */
  readonly by: string;
  /** Why: kept in the record. */
  readonly why: string;
  /** The fence that a lookup showed; when given, the record must still carry it. */
  readonly fence?: number | undefined;
  /** How long the outcome replays: the operation's own retention. Default 24 hours. */
  readonly retention?: Duration | undefined;
} /** `value` is the result; for HTTP the whole answer: `{ statusCode, headers, body }`. */ & (
    | { readonly as: 'completed'; readonly value: unknown }
    | { readonly as: 'rejected'; readonly rejection: Rejection }
    /** Free to run again. */
    | { readonly as: 'released' }
  );

/** A person is not in a hurry, a broken store should still be noticed. */
const limits = { budget: 5000 };
const defaultSkew = { seconds: 3 };
const defaultRetention = { hours: 24 };

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
  if (record.state !== 'in-doubt' && !isLapsed(record, now, skewOf(resolution))) throw notOpen(record);
  const decision = decide(record, resolution, now);
  const written = await driver.write(decision, limits);
  if (written.kind === 'refused') {
    throw new IdempotencyError('lease-lost', 'The record changed while it was resolved: look it up again.', {
      id,
    });
  }
  return describe(apply(decision, record), now, { ...resolution, withOutcome: true });
}

function notOpen(record: OnceRecord): IdempotencyError {
  return record.state === 'claimed'
    ? new IdempotencyError('busy', 'The claim is live: resolve it when its lease is over.', { id: record.id })
    : new IdempotencyError('already-applied', `The record is ${record.state}: nothing to resolve.`, {
        id: record.id,
      });
}

function decide(record: OnceRecord, resolution: Resolution, now: number): Transition {
  const retention = toMilliseconds(resolution.retention ?? defaultRetention) ?? 0;
  return {
    kind: 'resolve',
    seen: record,
    owner: randomUUID(),
    fence: nextFence(now, record.fence),
    endedAt: now,
    expiresAt: expirySeconds(now + retention),
    resolvedBy: resolution.by,
    resolvedWhy: resolution.why,
    ...verdictOf(resolution),
  };
}

function verdictOf(resolution: Resolution): { to: 'released' } | { to: 'completed'; outcome: string } {
  if (resolution.as === 'released') return { to: 'released' };
  const outcome = outcomeOf(resolution);
  const encoded = encodeOutcome(outcome);
  if (encoded.kind === 'server-error') {
    throw new IdempotencyError('options', `resolve: a ${encoded.status} is no outcome; release instead.`);
  }
  if (encoded.kind === 'not-kept') throw new IdempotencyError('options', `resolve: ${encoded.detail}.`);
  return { to: 'completed', outcome: encoded.text };
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
    state: stateOf(record, outcome, now, skewOf(query)),
    fence: record.fence,
    attempt: record.attempt,
    claimedAt: new Date(record.claimedAt),
    leaseUntil: new Date(record.leaseUntil),
    expiresAt: new Date(record.expiresAt * 1000),
    ...(record.endedAt !== undefined && { endedAt: new Date(record.endedAt) }),
    ...(record.resolvedBy !== undefined && { resolvedBy: record.resolvedBy }),
    ...(record.resolvedWhy !== undefined && { resolvedWhy: record.resolvedWhy }),
    ...(query.withOutcome === true && outcome !== undefined && { outcome }),
  };
}

function skewOf({ skew = defaultSkew }: Pick<LookupQuery, 'skew'>): number {
  return toMilliseconds(skew) ?? 0;
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
