import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import { recordId } from '../../src/domain/identity.ts';
import type { OnceRecord } from '../../src/domain/record.ts';
import {
  type Claim,
  type Duration,
  defineEffect,
  type Effect,
  idempotent,
  type LapsedClaim,
  type OnLapse,
  type ReconcileContext,
  type RunContext,
  type Store,
} from '../../src/index.ts';
import { type SweepOptions, type SweepReport, sweepHandler } from '../../src/sweeper.ts';
import { memoryStore } from '../../src/testing.ts';
import { Clock } from '../support/clock.ts';

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Of the operations here. */
const lease = 10 * second;
const skew = 3 * second;
/** A claim is lapsed this long after it was made, in milliseconds, and an `'absent'` counts from then. */
export const lapsed: number = lease + skew + 1;
export const settled: number = lapsed + minute;

/** A report in which nothing was found. */
export const nothing: SweepReport = {
  examined: 0,
  completed: 0,
  released: 0,
  inDoubt: 0,
  settling: 0,
  skipped: 0,
  failed: 0,
  oldestAge: 0,
  truncated: false,
  scanned: false,
  open: [],
};

/** A sweeper that keeps its reports to itself. */
export function sweeper(options: SweepOptions): ReturnType<typeof sweepHandler> {
  return sweepHandler({ log: () => {}, ...options });
}

/** A table in memory, on a clock that the test moves. */
export function inMemory(): {
  readonly clock: Clock;
  readonly store: Store;
  readonly records: Map<string, OnceRecord>;
  /** The only record there is. */
  readonly record: () => OnceRecord;
} {
  const clock = new Clock(1_900_000_000_000);
  const records = new Map<string, OnceRecord>();
  const record = (): OnceRecord => {
    const [only, ...others] = records.values();
    if (only === undefined || others.length > 0) throw new Error(`there are ${records.size} records`);
    return only;
  };
  return { clock, store: memoryStore({ now: clock.now, records }), records, record };
}

/** A host whose process dies where a test wants it to: what is awaited there is never heard of again. */
export class Host {
  #die: (() => void) | undefined;
  #past = 0;

  /**
   * Does the work up to where the process dies: when so many of its `strands` have come to such a place, each after it has
   * got past so many of them.
   */
  async crash(work: () => Promise<unknown>, strands = 1, past = 0): Promise<void> {
    let left = strands;
    this.#past = past;
    await new Promise<void>((resolve, reject) => {
      this.#die = () => {
        left -= 1;
        if (left === 0) resolve();
      };
      work().then(() => reject(new Error('it did not come to where it dies')), reject);
    });
    this.#die = undefined;
  }

  /** Where the process dies, when it does. */
  async mayDie(): Promise<void> {
    this.#past -= 1;
    if (this.#die === undefined || this.#past >= 0) return;
    this.#die();
    await new Promise<never>(() => {});
  }
}

/** What a payment of a test does; it returns the answer. */
type Work = (claim: Claim, host: Host) => Promise<unknown>;

/** How the payments of a test differ from the usual. */
export interface PaymentOptions {
  readonly onLapse?: OnLapse<unknown>;
  /** Default: it may die, and says which attempt it was. */
  readonly work?: Work;
  readonly retention?: Duration;
  readonly lease?: Duration;
  readonly skew?: Duration;
  readonly onFailure?: 'hold' | 'release';
  /** Default: one of its own. */
  readonly host?: Host;
}

const usual: Work = async (claim, host) => {
  await host.mayDie();
  return `attempt ${claim.attempt}`;
};

/** An operation `pay` as a handler has it, and the host that it runs on. */
export function payments(store: Store, { work = usual, host = new Host(), ...options }: PaymentOptions = {}) {
  const run = vi.fn(async ({ order: _order }: { order: string }, claim: Claim) => work(claim, host));
  const once = idempotent(run, {
    // another host's: one that knows the operation from elsewhere warns of it
    store: { ...store },
    operation: 'pay',
    key: ({ order }) => order,
    lease: { milliseconds: lease },
    ...options,
  });
  const pay = (order = 'o-1'): Promise<unknown> => once({ order });
  return {
    run,
    /** Delivers an order. */
    pay,
    /** Delivers one whose attempt dies. */
    crash: (order = 'o-1', strands = 1, past = 0) => host.crash(() => pay(order), strands, past),
  };
}

/** The id of an order's record. */
export function idOf(order: string): string {
  return recordId({ operation: 'pay', scope: 'none', key: order });
}

interface Amount {
  readonly amount: number;
}
export const order: Amount = { amount: 1200 };
export type Charge = Effect<Amount, { readonly charge: string }>;

/** What an effect of the provider's does beside charging. */
interface EffectParts {
  readonly also?: (context: RunContext) => Promise<void>;
  readonly settleAfter?: Duration;
  readonly keepInput?: boolean;
}

/** A payment provider without idempotency keys: a second run charges a second time. It is called from a host. */
export function provider(host: Host) {
  const charges: string[] = [];
  const asked: { readonly input: Amount | undefined; readonly context: ReconcileContext }[] = [];
  const known = (token: string): unknown =>
    charges.includes(token) ? { found: { charge: token } } : 'absent';
  const run = vi.fn<(context: RunContext) => void>();
  const provider = {
    /** The token of each charge. */
    charges,
    /** Every question. */
    asked,
    /** Told of each run of an effect. */
    run,
    /** What it says when it is asked about a token. Default: the truth. */
    says: known,
    /** Whether requests reach it. */
    isUp: true,
    /** An effect of a name of its own. Its host may die right after the request. */
    effect({ also, settleAfter, keepInput = false }: EffectParts = {}): Charge {
      return defineEffect<Amount, { charge: string }, boolean>({
        name: `charge-${randomUUID()}`,
        run: async (_input, context) => {
          run(context);
          if (provider.isUp) charges.push(context.token);
          await also?.(context);
          await host.mayDie();
          if (!provider.isUp) throw new Error('connection lost');
          return { charge: context.token };
        },
        reconcile: (input, context) => {
          asked.push({ input, context });
          return provider.says(context.token) as 'absent';
        },
        settleAfter,
        keepInput,
      });
    },
  };
  return provider;
}

/** An order whose first attempt died, as a sweeper and a retry find it. */
export async function crashed(
  answer: (claim: LapsedClaim) => unknown,
  options: PaymentOptions = {},
  told: Partial<SweepOptions> = {},
) {
  const reconcile = vi.fn(answer as (claim: LapsedClaim) => 'absent');
  const memory = inMemory();
  const { crash, ...operation } = payments(memory.store, { onLapse: reconcile, ...options });
  const sweep = sweeper({ store: memory.store, operations: { pay: reconcile }, ...told });
  await crash();
  return { ...memory, ...operation, reconcile, sweep };
}
