import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { decodeEntry, type Entry } from '../../src/domain/journal.ts';
import type { OnceRecord } from '../../src/domain/record.ts';
import type { Transition } from '../../src/domain/transition.ts';
import {
  type Claim,
  defineEffect,
  type Effect,
  type EffectOptions,
  type FunctionOptions,
  IdempotencyError,
  idempotent,
  type LambdaContext,
  type OnceEvent,
  type RunContext,
  type Store,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';
import { Clock } from './clock.ts';
import { type Order, type Paid, Provider } from './provider.ts';

export const start = 1_900_000_000_000;
export const lease = 10_000;
/** From the claim on: the first millisecond in which it has lapsed, the lease and 3 seconds of skew being over. */
export const lapsed = lease + 3001;
/** The first millisecond in which `absent` counts of what was begun under the claim, by the default `settleAfter`. */
export const settled = lapsed + 60_000;

/** An invocation with so little time left that no write of the engine is tried twice. */
export const hurried: LambdaContext = { getRemainingTimeInMillis: () => 40 };

/** What a handler, or the run of an effect, never comes back from. */
export const crash = (): Promise<never> => new Promise(() => {});

/** Lets everything go on that waits for nothing but its turn. */
export async function turns(): Promise<void> {
  for (let count = 0; count < 5; count += 1) await setImmediate();
}

/** A write by what it says. */
export type WriteName = Transition['kind'] | 'begun' | 'reference' | 'done' | 'void' | 'capture';

export function nameOf(transition: Transition): WriteName {
  if (transition.kind !== 'note') return transition.kind;
  const [change] = Object.values(transition.effects ?? {});
  if (change === undefined) return 'capture';
  const entry = decodeEntry(change.to);
  if (entry.state === 'begun') return entry.reference === undefined ? 'begun' : 'reference';
  return entry.state === 'done' ? 'done' : 'void';
}

/** `lost`: the write never arrives. `reply lost`: it lands, and its sender is told that it failed. */
type Fate = 'lost' | 'reply lost';

export type Options = Partial<FunctionOptions<{ id: string }, unknown>>;
export type Charge = Effect<Order, Paid>;
export const order: Order = { amount: 1200 };

/** A memory store that tells what is written and fails on demand. */
export interface FaultyStore {
  readonly store: Store;
  readonly records: Map<string, OnceRecord>;
  /** The writes so far, by name. */
  readonly writes: WriteName[];
  /** The next `times` writes of a name suffer. */
  readonly fail: (name: WriteName, fate: Fate, times?: number) => void;
  readonly heal: () => void;
  /** Called before a write goes out. */
  before: ((name: WriteName, transition: Transition) => unknown) | undefined;
  /** Called when a write has landed, before its sender hears of it. */
  after: ((name: WriteName, transition: Transition) => unknown) | undefined;
}

export function faultyStore(clock: Clock): FaultyStore {
  const records = new Map<string, OnceRecord>();
  const writes: WriteName[] = [];
  const faults = new Map<WriteName, Fate[]>();
  const table = memoryStore({ now: clock.now, records });
  const failure = (): IdempotencyError => new IdempotencyError('store', 'The store is down.');
  const faulty: FaultyStore = {
    records,
    writes,
    before: undefined,
    after: undefined,
    fail: (name, fate, times = 1) =>
      void faults.set(name, [...(faults.get(name) ?? []), ...Array<Fate>(times).fill(fate)]),
    heal: () => faults.clear(),
    store: {
      ...table,
      async write(transition, limits) {
        const name = nameOf(transition);
        writes.push(name);
        await faulty.before?.(name, transition);
        const fate = faults.get(name)?.shift();
        if (fate === 'lost') throw failure();
        const written = await table.write(transition, limits);
        await faulty.after?.(name, transition);
        if (fate === 'reply lost') throw failure();
        return written;
      },
    },
  };
  return faulty;
}

/** One operation's world: a clock, a table, a provider, and what was observed. */
export interface EffectWorld extends FaultyStore {
  readonly clock: Clock;
  readonly provider: Provider;
  readonly events: OnceEvent[];
  readonly operation: string;
  /** The only record. */
  readonly record: () => OnceRecord;
  /** What the journal of the only record says of a slot. */
  readonly entry: (slot: string) => Entry | undefined;
  /** An effect that charges at the provider and asks it by token. */
  readonly effect: (options?: Partial<EffectOptions<Order, Paid, boolean>>) => Charge;
  /** The idempotent operation on `o-1`. */
  readonly wrap: (
    work: (claim: Claim) => unknown,
    options?: Options,
  ) => (context?: LambdaContext) => Promise<unknown>;
}

export function effectWorld(): EffectWorld {
  const clock = new Clock(start);
  const faulty = faultyStore(clock);
  const provider = new Provider();
  const events: OnceEvent[] = [];
  const operation = `pay-${randomUUID()}`;
  const record = (): OnceRecord => {
    expect(faulty.records.size).toBe(1);
    return [...faulty.records.values()][0] as OnceRecord;
  };
  return Object.assign(faulty, {
    clock,
    provider,
    events,
    operation,
    record,
    entry: (slot: string) => {
      const text = record().effects?.[slot];
      return text === undefined ? undefined : decodeEntry(text);
    },
    effect: (options: Partial<EffectOptions<Order, Paid, boolean>> = {}) =>
      defineEffect<Order, Paid, boolean>({
        name: `charge-${randomUUID()}`,
        run: ({ amount }: Order, { token }: RunContext) => provider.charge(token, amount),
        reconcile: (input: Order | undefined, context) => provider.ask(input, context),
        ...options,
      }),
    wrap: (work: (claim: Claim) => unknown, options: Options = {}) => {
      const once = idempotent(async (_input: { id: string }, claim) => work(claim), {
        store: faulty.store,
        operation,
        key: ({ id }) => id,
        lease: { milliseconds: lease },
        onLapse: 'rerun',
        observe: (event) => events.push(event),
        ...options,
      });
      return (context?: LambdaContext) => once({ id: 'o-1' }, context);
    },
  });
}

/** The package as another process has it: it shares nothing with this one but the table. */
export async function otherProcess(): Promise<typeof import('../../src/index.ts')> {
  vi.resetModules();
  return import('../../src/index.ts');
}
