import type { Texts } from './record.ts';

/**
 * One effect in the journal of a record. It only moves forward, from nothing to begun to done: each write names the text
 * it replaces, so a late duplicate of an earlier one finds another text and is refused.
 */
export type Entry =
  | ({ readonly state: 'begun' } & Begun)
  /** It happened; `outcome` is its result, encoded, as long as the operation is open. */
  | ({ readonly state: 'done'; readonly outcome?: string } & Facts)
  /** A person said that it did not happen: it may begin again. */
  | { readonly state: 'void' }
  /** Written by a newer version: open, and not to be decided by this one. */
  | { readonly state: 'unreadable' };

/** What is known of an effect from its beginning on. */
interface Facts {
  /** Epoch milliseconds. */
  readonly begunAt: number;
  /** Digest of the input: the same effect of another attempt must mean the same. */
  readonly digest: string;
  /** The provider's id, as soon as it was told. */
  readonly reference?: string;
}

/** An effect that was begun and of which nobody wrote how it ended. */
export interface Begun extends Facts {
  /** Epoch milliseconds until which the attempt that began it may still send: its lease, or when it ended by itself. */
  readonly until: number;
  /** The input itself, encoded as outcomes are, where the effect keeps it for the question. */
  readonly input?: string;
}

const version = '1';

/** The name of an entry: the effect's, with the index where one effect is performed several times. */
export function slotOf(name: string, index: number | undefined): string {
  return index === undefined ? name : `${name}#${index}`;
}

/** Name and index out of a slot. Effect names hold no `#`. */
export function partsOf(slot: string): { readonly name: string; readonly index: number | undefined } {
  const [name = '', index] = slot.split('#');
  return { name, index: index === undefined ? undefined : Number(index) };
}

/** The text that an entry is stored as. */
export function encodeEntry(entry: Exclude<Entry, { state: 'unreadable' }>): string {
  return version + JSON.stringify(entry);
}

/** The entry of a text. */
export function decodeEntry(text: string): Entry {
  try {
    return text.startsWith(version) ? (JSON.parse(text.slice(1)) as Entry) : { state: 'unreadable' };
  } catch {
    return { state: 'unreadable' };
  }
}

/** The entry after it turned out that the effect had happened, with this encoded result. */
export function doneWith(
  { begunAt, digest, reference }: Begun,
  outcome: string,
): Entry & { readonly state: 'done' } {
  return { state: 'done', begunAt, digest, ...(reference !== undefined && { reference }), outcome };
}

/** Whether an entry stands in the way of an outcome: begun, and not known how it ended. */
export function isOpen(text: string): boolean {
  const { state } = decodeEntry(text);
  return state === 'begun' || state === 'unreadable';
}

/** The entries that nobody has decided yet. */
export function openEntries(effects: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(effects).filter(([, text]) => isOpen(text)));
}

/** The attempt that began these has ended by itself at `now` and sends no more, so they settle from then. */
export function endedBy(effects: Texts, now: number): Texts {
  return changed(effects, (entry) =>
    entry.state === 'begun' ? { ...entry, until: Math.min(entry.until, now) } : entry,
  );
}

/** What a completed record keeps of its journal: that it happened, and its reference. The outcome speaks for the rest. */
export function closed(effects: Texts): Texts {
  return changed(effects, (entry) => {
    if (entry.state !== 'done') return entry;
    const { outcome: _outcome, ...facts } = entry;
    return facts;
  });
}

/** A person says that none of the open effects happened. */
export function voided(effects: Texts): Texts {
  return changed(openEntries(effects), () => ({ state: 'void' }));
}

function changed(
  effects: Texts,
  change: (entry: Exclude<Entry, { state: 'unreadable' }>) => Exclude<Entry, { state: 'unreadable' }>,
): Texts {
  const entries = Object.entries(effects).map(([slot, text]) => {
    const entry = decodeEntry(text);
    return [slot, entry.state === 'unreadable' ? text : encodeEntry(change(entry))] as const;
  });
  return Object.fromEntries(entries);
}
