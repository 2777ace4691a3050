import { decodeEntry, endedBy, isOpen } from '../domain/journal.ts';
import { type OnceRecord, type Texts, textOf } from '../domain/record.ts';
import type { Changes } from '../domain/transition.ts';
import { type ErrorCode, IdempotencyError, isIdempotencyError } from '../errors.ts';
import type { Written } from '../store/store.ts';
import { persist } from './persist.ts';
import { callLimits, type Request } from './request.ts';

/** The claim whose journal it is. */
export interface Holder {
  readonly id: string;
  readonly owner: string;
  readonly fence: number;
  /** Epoch milliseconds. */
  readonly leaseUntil: number;
  readonly request: Request;
}

/** Refusals of one write in a row, each answered by what stands there: more means that somebody else writes as us. */
const maximumRounds = 4;

/** What a caller can do something about. The rest is for whoever wrote the handler. */
const refusals: ReadonlySet<ErrorCode> = new Set(['store', 'lease-lost', 'already-applied', 'key-reused']);

/**
 * What one attempt knows of its record's journal, and its writes into it. Every write is fenced and names the text it
 * replaces. The record may differ from what we know after a reply was lost; then its answer tells.
 */
export class Journal {
  readonly #holder: Holder;
  /** The entries as we know them to be in truth. */
  readonly #entries: Map<string, string>;
  /** The entries as the record has them, as far as it told. */
  readonly #stored: Map<string, string>;
  readonly #values: Map<string, string>;
  /** The performances that are under way, by slot. */
  readonly running: Map<string, { readonly digest: string; readonly result: Promise<unknown> }> = new Map();
  /** How long each effect of this attempt takes to settle, in milliseconds, by slot. */
  readonly settling: Map<string, number> = new Map();
  readonly #failures: Set<unknown> = new Set();
  readonly #refused: Set<unknown> = new Set();

  constructor(holder: Holder, { effects = {}, values = {} }: OnceRecord) {
    this.#holder = holder;
    this.#entries = new Map(Object.entries(effects));
    this.#stored = new Map(this.#entries);
    this.#values = new Map(Object.entries(values));
  }

  entry(slot: string): string | undefined {
    return this.#entries.get(slot);
  }

  value(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** What we found out about an entry; `write` or the end of the claim puts it into the record. */
  learn(slot: string, text: string): void {
    this.#entries.set(slot, text);
  }

  /** A `run` threw this and left open whether the effect happened. */
  failed(error: unknown): void {
    this.#failures.add(error);
  }

  /** Whether the handler ended with what an effect had thrown. */
  threw(error: unknown): boolean {
    return this.#failures.has(error);
  }

  /** Runs a call of the handler's into the claim, and remembers what it was refused. */
  async guard<Result>(call: Promise<Result>): Promise<Result> {
    try {
      return await call;
    } catch (error) {
      if (isIdempotencyError(error) && refusals.has(error.code) && !this.threw(error))
        this.#refused.add(error);
      throw error;
    }
  }

  /** Whether the claim had refused something with this very error. */
  refused(error: unknown): boolean {
    return this.#refused.has(error);
  }

  hasOpen(): boolean {
    return [...this.#entries.values()].some(isOpen);
  }

  /** Whether anything stands in the way of an outcome: an open effect, or one that still runs. */
  isOpen(): boolean {
    return this.running.size > 0 || this.hasOpen();
  }

  /** All entries, where the record has any. */
  all(): Texts | undefined {
    return this.#entries.size === 0 ? undefined : Object.fromEntries(this.#entries);
  }

  /** The entries that the record does not have like this when the claim ends at `now` and sends no more. */
  atEnd(now: number): Texts | undefined {
    const entries = Object.entries(endedBy(Object.fromEntries(this.#entries), now));
    const changed = entries.filter(([slot, text]) => this.#stored.get(slot) !== text);
    return changed.length === 0 ? undefined : Object.fromEntries(changed);
  }

  /** How long, in milliseconds, until every effect that is open has settled. */
  settlesIn(otherwise: number): number {
    const open = [...this.#entries].filter(([, text]) => isOpen(text));
    return Math.max(0, ...open.map(([slot]) => this.settling.get(slot) ?? otherwise));
  }

  /**
   * Writes what is known of an entry.
   *
   * @param how `late`: also when somebody put the record in doubt; `persistent`: retried within the time left
   * @throws IdempotencyError `lease-lost`, `store`
   */
  async write(slot: string, how: { readonly late: boolean; readonly persistent: boolean }): Promise<void> {
    const to = this.#entries.get(slot);
    for (let round = 0; to !== undefined && round < maximumRounds; round += 1) {
      const from = this.#stored.get(slot);
      if (from === to) return;
      const written = await this.#send({ effects: { [slot]: { from, to } } }, how);
      if (written.kind !== 'refused') {
        this.#stored.set(slot, to);
        return;
      }
      this.#adopt(slot, written.record, how.late);
    }
    throw this.#lost();
  }

  /**
   * Writes captured values, all in one, and tells them as they stand: one that an earlier write of ours brought, whose
   * reply was lost, stays.
   *
   * @throws IdempotencyError `lease-lost`, `store`
   */
  async capture(values: Texts): Promise<void> {
    for (let round = 0; round < maximumRounds; round += 1) {
      const missing = Object.entries(values).filter(([name]) => !this.#values.has(name));
      if (missing.length === 0) return;
      const changes = Object.fromEntries(missing.map(([name, to]) => [name, { from: undefined, to }]));
      const written = await this.#send({ values: changes }, { late: false, persistent: false });
      const standing = written.kind === 'refused' ? written.record : { values };
      if (written.kind === 'refused' && !this.#isOurs(written.record)) break;
      for (const [name] of missing) {
        const text = textOf(standing?.values, name);
        if (text !== undefined) this.#values.set(name, text);
      }
    }
    throw this.#lost();
  }

  async #send(
    changes: { readonly effects?: Changes; readonly values?: Changes },
    { late, persistent }: { readonly late: boolean; readonly persistent: boolean },
  ): Promise<Written> {
    const { request } = this.#holder;
    const note = { kind: 'note', held: this.#holder, late, ...changes } as const;
    if (!persistent) return request.operation.store.write(note, callLimits(request));
    const written = await persist(request, 'journal', note);
    if (written === 'failed')
      throw new IdempotencyError('store', 'The journal could not be written.', { id: note.held.id });
    return written;
  }

  /** What stands in the way is our own, of a write whose reply was lost: then it tells what to replace. */
  #adopt(slot: string, record: OnceRecord | undefined, late: boolean): void {
    const text = textOf(record?.effects, slot);
    const isFinal = text !== undefined && decodeEntry(text).state === 'done';
    if (isFinal || !(this.#isOurs(record) || (late && this.#isOurs(record, 'in-doubt')))) throw this.#lost();
    if (text === undefined) this.#stored.delete(slot);
    else this.#stored.set(slot, text);
  }

  #isOurs(record: OnceRecord | undefined, state: OnceRecord['state'] = 'claimed'): boolean {
    const { owner, fence } = this.#holder;
    return record?.state === state && record.owner === owner && record.fence === fence;
  }

  #lost(): IdempotencyError {
    const { request, id } = this.#holder;
    const { name: operation, observe } = request.operation;
    observe({ type: 'lease-lost', operation, id, at: 'journal' });
    return leaseLost(id);
  }
}

/** Told to whoever is about to do something under a claim that is over. */
export function leaseLost(id: string): IdempotencyError {
  const message = 'The lease ran out, or the claim was given away: nothing more may be done under it.';
  return new IdempotencyError('lease-lost', message, { id, retryAfter: 1 });
}
