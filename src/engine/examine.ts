import { deriveKey } from '../domain/derive.ts';
import { type Begun, decodeEntry, doneWith, encodeEntry, openEntries, partsOf } from '../domain/journal.ts';
import { decodeOutcome, type Outcome } from '../domain/outcome.ts';
import type { OnceRecord, Texts } from '../domain/record.ts';
import { ask, invalidAnswer } from './ask.ts';
import type { AnyEffect, ReconcileContext } from './effect.ts';
import { encodeResult } from './encode.ts';
import type { OnceEvent } from './observe.ts';

/** How long one question may take and by whose clock it is judged. */
export interface Terms {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly skew: number;
  /** Milliseconds that a question may take, from now. */
  readonly within: () => number;
}

/** What became of one open effect. */
export type Decision =
  /** It happened. `text` is the entry that says so. */
  | { readonly kind: 'found'; readonly value: unknown; readonly text: string }
  | { readonly kind: 'absent' }
  /** Absent, but what was sent last may still arrive: it counts from `from` on, in epoch milliseconds. */
  | { readonly kind: 'settling'; readonly from: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly error: string };

/** Why an operation stays open. `no-effect`: nobody here knows an effect of that name. */
export type Undecided = 'settling' | 'unknown' | 'failed' | 'no-effect';

/** What asking about every open effect of a record brought. */
export interface Examined {
  /** The entries of those that have happened. */
  readonly found: Texts;
  /** The worst of what is still open; absent where everything is decided. */
  readonly undecided?: Open;
}

/** What is still open, and what is known of it. */
export interface Open {
  readonly why: Undecided;
  readonly effect?: string;
  /** Epoch milliseconds; `settling` only. */
  readonly from?: number;
  /** The name of the error; `failed` only. */
  readonly error?: string;
}

/** Told of each answer. */
export type Report = (effect: string, decision: Decision) => void;

/**
 * Asks about every open effect of a record, all at once. Whoever retries, and the sweeper, do it by this one function. It
 * writes nothing.
 *
 * @param effectOf the effect of a name, `'later'` where whoever performs it will ask
 */
export async function examine(
  record: Pick<OnceRecord, 'id' | 'effects'>,
  effectOf: (name: string) => AnyEffect | 'later' | undefined,
  terms: Terms,
  report: Report,
): Promise<Examined> {
  const found: Record<string, string> = {};
  const undecided: Open[] = [];
  const questions = Object.entries(openEntries(record.effects)).map(async ([slot, text]) => {
    const { name } = partsOf(slot);
    const effect = effectOf(name);
    const entry = decodeEntry(text);
    if (effect === 'later') return;
    if (effect === undefined || entry.state !== 'begun') {
      undecided.push({ why: 'no-effect', effect: name });
      return;
    }
    const decision = await decide(effect, { id: record.id, slot, entry }, terms);
    report(name, decision);
    if (decision.kind === 'found') found[slot] = decision.text;
    else if (decision.kind !== 'absent') undecided.push({ ...openBy(decision), effect: name });
  });
  await Promise.all(questions);
  const worst = undecided.find(({ why }) => why !== 'settling') ?? latest(undecided);
  return worst === undefined ? { found } : { found, undecided: worst };
}

/** Why it is still open, and what the answer says besides. */
export function openBy(verdict: Exclude<Decision, { kind: 'found' | 'absent' }>): Open {
  const { kind: why } = verdict;
  if (why === 'settling') return { why, from: verdict.from };
  return why === 'failed' ? { why, error: verdict.error } : { why };
}

/** What an observer is told of an answer. */
export function verdictOf(
  verdict: Pick<Decision, 'kind'> & { readonly error?: string },
): Pick<Extract<OnceEvent, { type: 'reconciled' }>, 'verdict' | 'error'> {
  const { kind, error } = verdict;
  return { verdict: kind, ...(error !== undefined && { error }) };
}

function latest<Settling extends { readonly from?: number }>(all: readonly Settling[]): Settling | undefined {
  return [...all].sort((one, other) => (other.from ?? 0) - (one.from ?? 0))[0];
}

/**
 * Asks about one effect. Absent counts only when the lease of the attempt that began it ended longer ago than
 * `settleAfter`, by the clock before the question: what arrives while it is being answered has not been seen by it.
 *
 * @param input the input itself, where the caller has it
 */
export async function decide(
  effect: AnyEffect,
  {
    id,
    slot,
    entry,
    input = keptInput(entry),
  }: { readonly id: string; readonly slot: string; readonly entry: Begun; readonly input?: unknown },
  { now, skew, within }: Terms,
): Promise<Decision> {
  const settledFrom = entry.until + skew + effect.settleAfter;
  const isSettled = settledFrom < now();
  const asked = await ask((signal) => effect.reconcile(input, contextOf(id, slot, entry, signal)), within());
  if (asked === 'absent') return isSettled ? { kind: 'absent' } : { kind: 'settling', from: settledFrom + 1 };
  if (asked === 'unknown') return { kind: 'unknown' };
  if ('failed' in asked) return { kind: 'failed', error: asked.failed };
  const text = doneEntry(entry, { kind: 'value', value: asked.found });
  return text === undefined
    ? { kind: 'failed', error: invalidAnswer.failed }
    : { kind: 'found', value: asked.found, text };
}

/** The entry of an effect that has happened; `undefined` for a server error, which says that it has not. */
export function doneEntry(begun: Begun, outcome: Outcome): string | undefined {
  const text = encodeResult(outcome);
  return text === undefined ? undefined : encodeEntry(doneWith(begun, text));
}

function keptInput({ input }: Begun): unknown {
  if (input === undefined) return undefined;
  const kept = decodeOutcome(input);
  return kept.kind === 'value' ? kept.value : undefined;
}

function contextOf(id: string, slot: string, entry: Begun, signal: AbortSignal): ReconcileContext {
  const { name, index } = partsOf(slot);
  const { reference, begunAt } = entry;
  return { token: deriveKey(id, name, index), index, reference, begunAt: new Date(begunAt), signal };
}
