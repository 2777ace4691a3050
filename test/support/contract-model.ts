import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Outcome } from '../../src/domain/outcome.ts';
import type { OnceRecord } from '../../src/domain/record.ts';
import type { Transition } from '../../src/domain/transition.ts';
import { begin } from '../../src/engine/begin.ts';
import type { HeldClaim } from '../../src/engine/claim.ts';
import { defineOperation } from '../../src/engine/operation.ts';
import type { Request } from '../../src/engine/request.ts';
import { settle } from '../../src/engine/settle.ts';
import { IdempotencyError } from '../../src/errors.ts';
import type { Store, Written } from '../../src/store/store.ts';
import { memoryStore } from '../../src/testing.ts';
import { checkBelievers, checkWrite, lease, widest } from './contract-model-rules.ts';

/**
 * What the way to the store does with a write: `sent again` lands it and asks again, as the SDK does when a reply is
 * lost; `given up` tells its sender that it failed and lands it later, or never.
 */
const fate = fc.constantFrom('arrives', 'arrives', 'arrives', 'reply lost', 'lost', 'sent again', 'given up');
const who = fc.nat({ max: 2 });
const milliseconds = fc.constantFrom(1, 900, 5000, 8600, 12_000, 14_500, 70_000);

/** One step of an interleaving. What is not possible at the moment does nothing. */
export const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('begin'), who }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('finish', 'fail', 'vanish'), who }) },
  { weight: 8, arbitrary: fc.record({ does: fc.constant('deliver'), which: fc.nat({ max: 5 }), fate }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('wait'), milliseconds }) },
);
export type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

/** One process. `life` counts its restarts: what a dead process waited for is never heard. */
export interface ModelWorker {
  readonly store: Store;
  readonly request: Request;
  life: number;
  /** Between two answers of the store. */
  isWaiting: boolean;
  /** What it believes to hold, while its handler runs. */
  held: HeldClaim | undefined;
  leaseUntil: number;
}

/** A write between its sender and the record. */
interface Message {
  readonly transition: Transition;
  readonly sender: ModelWorker;
  readonly life: number;
  isAwaited: boolean;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: IdempotencyError) => void;
}

/** The real engine and the real transitions on one record, with an unreliable way between them. */
export class Model {
  readonly #records = new Map<string, OnceRecord>();
  readonly #table = memoryStore({ now: () => this.#now, records: this.#records });
  readonly #onTheWay: Message[] = [];
  readonly #kept = new Set<string>();
  readonly #workers: ModelWorker[];
  readonly #onLapse: 'rerun' | 'hold';
  readonly #reached: Set<string>;
  /** Of what runs between the steps. */
  readonly #failures: unknown[] = [];
  #now = 1_900_000_000_000;
  #outcomes = 0;

  constructor(onLapse: 'rerun' | 'hold', offsets: readonly number[], reached: Set<string>) {
    this.#onLapse = onLapse;
    this.#reached = reached;
    this.#workers = offsets.map((offset) => this.#worker(offset));
  }

  async step(action: Action): Promise<void> {
    if (action.does === 'wait') this.#now += action.milliseconds;
    else if (action.does === 'deliver') await this.#deliver(action.which, action.fate);
    else this.#act(this.#workers[action.who] as ModelWorker, action.does);
    await turn();
    for (const failure of this.#failures) throw failure;
    checkBelievers(this.#workers, this.#records.get('model#1'));
  }

  #worker(offset: number): ModelWorker {
    const write = (transition: Transition): Promise<Written> =>
      new Promise((resolve, reject) => {
        if ('record' in transition) worker.leaseUntil = transition.record.leaseUntil;
        const { life } = worker;
        this.#onTheWay.push({ transition, sender: worker, life, isAwaited: true, resolve, reject });
      });
    const store = { ...this.#table, write, now: () => this.#now + offset };
    const limits = { lease: { milliseconds: lease }, retention: { seconds: 60 }, onLapse: this.#onLapse };
    const operation = defineOperation('model', { store, operation: 'model', ...limits }, {}, []);
    const identity = { operation: 'model', scope: 'none', key: '1' };
    const request = { operation, identity, id: 'model#1', fingerprint: '1:same', deadline: undefined };
    const worker: ModelWorker = { store, request, life: 0, isWaiting: false, held: undefined, leaseUntil: 0 };
    return worker;
  }

  #act(worker: ModelWorker, does: 'begin' | 'finish' | 'fail' | 'vanish'): void {
    const { held } = worker;
    if (does === 'vanish') {
      Object.assign(worker, { life: worker.life + 1, isWaiting: false, held: undefined });
    } else if (!worker.isWaiting && does === 'begin' && held === undefined) {
      this.#process(worker, this.#begin(worker));
    } else if (!worker.isWaiting && does !== 'begin' && held !== undefined) {
      worker.held = undefined;
      this.#process(worker, this.#end(held, does));
    }
  }

  #process(worker: ModelWorker, work: Promise<void>): void {
    worker.isWaiting = true;
    const over = (): void => {
      worker.isWaiting = false;
    };
    work.then(over, (error: unknown) => this.#failures.push(error));
  }

  async #begin(worker: ModelWorker): Promise<void> {
    const begun = await begin(worker.request);
    if (begun.kind === 'run') worker.held = begun.held;
    if (begun.kind === 'replay') this.#wasKept(begun.outcome);
    this.#reached.add(begun.kind === 'refused' ? begun.error.code : begun.kind);
  }

  /** With no time left, so that the engine tries a completion once: retries are the way's business here. */
  async #end(held: HeldClaim, does: 'finish' | 'fail'): Promise<void> {
    const request = { ...held.request, deadline: held.request.operation.store.now() };
    this.#outcomes += 1;
    const value = `outcome ${this.#outcomes}`;
    const ended =
      does === 'finish'
        ? ({ kind: 'returned', value } as const)
        : ({ kind: 'thrown', error: new Error() } as const);
    const settled = await settle({ ...held, request }, ended);
    if (settled.kind === 'replay') this.#wasKept(settled.outcome);
    this.#reached.add(`${does} ${settled.kind}`);
  }

  #wasKept(outcome: Outcome): void {
    expect(outcome.kind === 'value' && this.#kept.has(`1v${JSON.stringify(outcome.value)}`)).toBe(true);
  }

  async #deliver(which: number, fate: string): Promise<void> {
    const place = which % Math.max(1, this.#onTheWay.length);
    const message = this.#onTheWay[place];
    if (message === undefined) return;
    const isAwaited = message.isAwaited && message.life === message.sender.life;
    const tell = (settle: () => void): void => (isAwaited ? settle() : undefined);
    const failure = new IdempotencyError('store', 'no answer');
    if (fate === 'given up') {
      message.isAwaited = false;
      return tell(() => message.reject(failure));
    }
    if (fate !== 'sent again') this.#onTheWay.splice(place, 1);
    if (fate === 'lost') return tell(() => message.reject(failure));
    const written = await this.#land(message.transition);
    if (!isAwaited) this.#reached.add(`late ${written.kind}`);
    if (fate === 'reply lost') tell(() => message.reject(failure));
    if (fate === 'arrives') tell(() => message.resolve(written));
  }

  async #land(transition: Transition): Promise<Written> {
    const before = this.#records.get('model#1');
    const written = await this.#table.write(transition, { budget: 1 });
    const after = this.#records.get('model#1');
    const latest = this.#now + widest;
    checkWrite({ transition, written, before, after, latest, onLapse: this.#onLapse });
    if (after?.outcome !== undefined) this.#kept.add(after.outcome);
    this.#reached.add(`${transition.kind} ${before?.state ?? 'absent'} ${written.kind}`);
    return written;
  }
}
