import { toJson } from '../domain/canonical-value.ts';
import { deriveKey } from '../domain/derive.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import { type Begun, decodeEntry, type Entry, encodeEntry, slotOf } from '../domain/journal.ts';
import { decodeOutcome } from '../domain/outcome.ts';
import { IdempotencyError } from '../errors.ts';
import { ask } from './ask.ts';
import { contain } from './contain.ts';
import type { AnyEffect, RunContext } from './effect.ts';
import { registerPerformed } from './effects-known.ts';
import { encodeResult } from './encode.ts';
import { decide, doneEntry, verdictOf } from './examine.ts';
import { type Holder, type Journal, leaseLost } from './journal.ts';
import { fromRejection, toRejection } from './rejection.ts';
import { questionTime } from './request.ts';
import { isFinalAnswer } from './verdict.ts';

/** The provider's ids are short; what is longer is something else. */
const longestReference = 1024;

/** What is to be performed. */
export interface Performance {
  readonly effect: AnyEffect;
  readonly input: unknown;
  readonly index: number | undefined;
}

/** The same under a claim, with its place in the journal. */
interface Step extends Performance {
  readonly holder: Holder;
  readonly journal: Journal;
  readonly slot: string;
  readonly token: string;
  readonly digest: string;
  readonly attempt: number;
  readonly signal: () => AbortSignal;
}

/**
 * Performs an effect under a claim: done before, its result; begun before and not known how it ended, the provider is
 * asked; otherwise begun, run and done. The same step twice at once is one performance.
 *
 * @throws IdempotencyError `in-doubt`, `lease-lost`, `input-invalid`, `outcome-not-kept`, `store`
 */
export async function perform(
  holder: Holder,
  journal: Journal,
  { effect, input, index }: Performance,
  { attempt, signal }: Pick<Step, 'attempt' | 'signal'>,
): Promise<unknown> {
  if (index !== undefined && !(Number.isSafeInteger(index) && index >= 0)) {
    throw new IdempotencyError(
      'input-invalid',
      `perform "${effect.name}": the index must be a whole number from 0.`,
    );
  }
  const slot = slotOf(effect.name, index);
  const digest = fingerprintOf(toJson(input));
  const running = journal.running.get(slot);
  if (running !== undefined) {
    if (running.digest !== digest) throw otherInput(holder, slot);
    return running.result;
  }
  registerPerformed(holder.request.operation, effect);
  const token = deriveKey(holder.id, effect.name, index);
  const step = { holder, journal, effect, input, index, slot, token, digest, attempt, signal };
  const result = carryOut(step).finally(() => journal.running.delete(slot));
  journal.running.set(slot, { digest, result });
  return result;
}

/** Where nothing protects a run, the effect runs: its token is of this one run, and nothing is written. */
export async function performUnheld(
  parent: string,
  { effect, input, index }: Performance,
  signal: AbortSignal,
): Promise<unknown> {
  const token = deriveKey(parent, effect.name, index);
  return effect.run(input, { token, index, fence: 0, attempt: 1, signal, reference: async () => {} });
}

async function carryOut(step: Step): Promise<unknown> {
  const text = step.journal.entry(step.slot);
  const entry: Entry = text === undefined ? { state: 'void' } : decodeEntry(text);
  switch (entry.state) {
    case 'void':
      return begin(step);
    case 'done':
      requireSameInput(step, entry);
      return resultOf(step, entry);
    case 'begun':
      requireSameInput(step, entry);
      return takeUp(step, entry);
    case 'unreadable':
      throw inDoubt(step);
    default:
      return entry satisfies never;
  }
}

/** Somebody began it, an earlier attempt or this one, and nobody wrote how it ended. */
async function takeUp(step: Step, entry: Begun): Promise<unknown> {
  const { holder, journal, effect, input, slot } = step;
  const { operation } = holder.request;
  // what this very attempt began ended by this very clock
  const skew = journal.settling.has(slot) ? 0 : operation.skew;
  const terms = { now: () => operation.store.now(), skew, within: () => questionTime(holder.request) };
  const decision = await decide(effect, { id: holder.id, slot, entry, input }, terms);
  const { name, observe } = operation;
  observe({
    type: 'reconciled',
    operation: name,
    id: holder.id,
    ...verdictOf(decision),
    effect: effect.name,
  });
  if (decision.kind === 'absent') return begin(step);
  if (decision.kind !== 'found') throw inDoubt(step);
  journal.learn(slot, decision.text);
  await writeDone(step, 'found');
  return decision.value;
}

/** Own lease first, before the journal says so and again right before it is sent: past it somebody else may ask. */
async function begin(step: Step): Promise<unknown> {
  const { holder, journal, effect, slot } = step;
  const entry = firstEntry(step);
  requireLease(holder);
  journal.settling.set(slot, effect.settleAfter);
  const before = journal.entry(slot);
  try {
    journal.learn(slot, encodeEntry(entry));
    await journal.write(slot, { late: false, persistent: false });
    requireLease(holder);
  } catch (error) {
    // whether "begun" was written or not: nothing was sent. What an earlier attempt sent is as it was.
    journal.learn(slot, before ?? encodeEntry({ state: 'void' }));
    throw error;
  }
  return run(step, entry);
}

async function run(step: Step, begun: Begun): Promise<unknown> {
  const { holder, journal, effect, input, index, slot, token, attempt } = step;
  const referred = new Referred(step, begun);
  const context: RunContext = {
    token,
    index,
    fence: holder.fence,
    attempt,
    reference: (id) => referred.refer(id),
    get signal() {
      return step.signal();
    },
  };
  let result: unknown;
  try {
    result = await effect.run(input, context);
  } catch (error) {
    return failed(step, await referred.end(), error);
  }
  const text = doneEntry(await referred.end(), { kind: 'value', value: result });
  // a server error is no result: it stays open whether it happened
  if (text === undefined) return result;
  journal.learn(slot, text);
  await writeDone(step, 'run');
  return result;
}

/** The entry of an effect while it runs: the provider's id goes into the journal as soon as it is told. */
class Referred {
  readonly #step: Step;
  #entry: Begun;
  #last: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(step: Step, entry: Begun) {
    this.#step = step;
    this.#entry = entry;
  }

  /** A promise that nobody awaits must not end the process in the middle of the effect, so its failure counts as seen. */
  refer(id: string): Promise<void> {
    const written = this.#last.then(() => this.#write(id));
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** No more references: what comes next is how it ended. */
  async end(): Promise<Begun> {
    await this.#last;
    this.#isOver = true;
    return this.#entry;
  }

  async #write(id: string): Promise<void> {
    const { journal, slot } = this.#step;
    const refuse = (why: string): never => {
      throw new IdempotencyError('input-invalid', `The reference of the effect "${slot}" ${why}.`);
    };
    if (this.#isOver) refuse('came after its run had ended');
    if (typeof id !== 'string' || id === '' || id.length > longestReference) {
      refuse(`must be a string of 1 to ${longestReference} characters`);
    }
    this.#entry = { ...this.#entry, reference: id };
    journal.learn(slot, encodeEntry({ ...this.#entry, state: 'begun' }));
    await journal.write(slot, { late: true, persistent: false });
  }
}

/** The provider's final answer is kept and thrown again; any other failure leaves open whether it happened. */
async function failed(step: Step, entry: Begun, error: unknown): Promise<never> {
  const { holder, journal, effect, slot } = step;
  const final = isFinal(effect, error)
    ? { kind: 'rejection' as const, rejection: toRejection(error) }
    : undefined;
  const text = final === undefined ? undefined : doneEntry(entry, final);
  if (text !== undefined) {
    journal.learn(slot, text);
    await writeDone(step, 'run');
    throw error;
  }
  // this attempt has stopped sending, so the effect settles from now on
  const until = Math.min(entry.until, holder.request.operation.store.now());
  journal.learn(slot, encodeEntry({ ...entry, state: 'begun', until }));
  journal.failed(error);
  throw error;
}

function isFinal({ onFailure }: AnyEffect, error: unknown): boolean {
  return onFailure === undefined
    ? isFinalAnswer(error)
    : contain('onFailure', () => onFailure(error)) === 'record';
}

/**
 * Writes down that it happened. When that fails for the store's sake, the run goes on: the end of the claim writes it once
 * more, and if that fails too, a later attempt asks. When the claim is lost, somebody else is at it.
 */
async function writeDone({ holder, journal, effect, slot }: Step, how: 'run' | 'found'): Promise<void> {
  const { name: operation, observe } = holder.request.operation;
  try {
    await journal.write(slot, { late: true, persistent: true });
    observe({ type: 'performed', operation, id: holder.id, effect: effect.name, how });
  } catch (error) {
    if ((error as IdempotencyError).code !== 'store') throw error;
  }
}

/** The result that an earlier performance brought. Where it could not be kept, the provider may still know it. */
async function resultOf(step: Step, entry: Extract<Entry, { state: 'done' }>): Promise<unknown> {
  const { holder, effect, input, index, token } = step;
  const outcome = decodeOutcome(entry.outcome);
  const { name: operation, observe } = holder.request.operation;
  observe({ type: 'performed', operation, id: holder.id, effect: effect.name, how: 'stored' });
  if (outcome.kind === 'rejection') throw fromRejection(outcome.rejection);
  if (outcome.kind === 'value') return outcome.value;
  const { reference, begunAt } = entry;
  const known = { token, index, reference, begunAt: new Date(begunAt) };
  const asked = await ask(
    (signal) => effect.reconcile(input, { ...known, signal }),
    questionTime(holder.request),
  );
  if (typeof asked === 'object' && 'found' in asked) return asked.found;
  const message = `The effect "${step.slot}" was done; its result was not kept.`;
  throw new IdempotencyError('outcome-not-kept', message, { id: holder.id });
}

function firstEntry({ holder, effect, input, digest, slot }: Step): Begun & { readonly state: 'begun' } {
  const begunAt = holder.request.operation.store.now();
  const entry = { state: 'begun', begunAt, until: holder.leaseUntil, digest } as const;
  if (!effect.keepInput) return entry;
  const text = encodeResult({ kind: 'value', value: input });
  const isKept = text !== undefined && decodeOutcome(text).kind === 'value';
  if (isKept) return { ...entry, input: text };
  const message = `The input of the effect "${slot}" cannot be kept: it does not survive storing, or is too large.`;
  throw new IdempotencyError('input-invalid', message, { id: holder.id });
}

function requireLease(holder: Holder): void {
  if (holder.request.operation.store.now() < holder.leaseUntil) return;
  throw leaseLost(holder.id);
}

function requireSameInput(step: Step, entry: { readonly digest: string }): void {
  if (entry.digest !== step.digest) throw otherInput(step.holder, step.slot);
}

function otherInput({ id }: Holder, slot: string): IdempotencyError {
  const message =
    `The effect "${slot}" was performed with another input before. ` +
    'Capture what differs between attempts, and give each of several performances an index.';
  return new IdempotencyError('input-invalid', message, { id });
}

function inDoubt({ holder, slot }: Step): IdempotencyError {
  const message = `Whether the effect "${slot}" took place is not known yet; it is being found out.`;
  return new IdempotencyError('in-doubt', message, { id: holder.id, retryAfter: 30 });
}
