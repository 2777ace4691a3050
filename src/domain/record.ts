/** Where an operation stands. Lapsed is not stored: it is a claim whose lease is over. */
export type State = 'claimed' | 'completed' | 'released' | 'in-doubt';

/** One item of the table. Times are epoch milliseconds, except `expiresAt`. */
export interface OnceRecord {
  readonly id: string;
  readonly state: State;
  /** Fresh random id of the attempt that wrote the record last. */
  readonly owner: string;
  /** Only grows over the lives of a record. */
  readonly fence: number;
  /** 1 for the first run, one more for every takeover. */
  readonly attempt: number;
  readonly fingerprint?: string;
  readonly claimedAt: number;
  readonly leaseUntil: number;
  readonly endedAt?: number;
  /** Epoch SECONDS, rounded up. */
  readonly expiresAt: number;
  /** Encoded, see `outcome.ts`. */
  readonly outcome?: string;
  /** What the operation says about a lapsed claim; absent: hold. */
  readonly onLapse?: 'rerun' | 'reconcile';
  /** The operation's, in milliseconds; absent in records of older versions. */
  readonly retention?: number;
  /** The operation's, in milliseconds; absent in records of older versions. */
  readonly skew?: number;
  /** `effects`: the body ended by itself, only effects are undecided. Absent: nobody knows how the body ended. */
  readonly doubtOf?: 'effects';
  /** From when a sweep should look at it. Only there while something is open. */
  readonly dueAt?: number;
  /** How often a sweep could not settle it. */
  readonly asked?: number;
  /** Who put it in doubt, by a fresh random id. */
  readonly examinedBy?: string;
  readonly resolvedBy?: string;
  readonly resolvedWhy?: string;
  /** The journal: entries by slot, encoded, see `journal.ts`. */
  readonly effects?: Texts;
  /** What the claim captured, by name, encoded as outcomes are. */
  readonly values?: Texts;
}

/** Encoded texts by name. */
export type Texts = Readonly<Record<string, string>>;

/** The text of a name, which may be one that every object has. */
export function textOf(texts: Texts | undefined, name: string): string | undefined {
  return texts !== undefined && Object.hasOwn(texts, name) ? texts[name] : undefined;
}

/** The retention in the form the item carries: whole epoch seconds, rounded up, so an outcome never dies early. */
export function expirySeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}

/** `expiresAt` is compared with whole seconds everywhere, in memory and in conditions: one definition of expired. */
export function expiryThreshold(now: number): number {
  return Math.floor(now / 1000);
}

/**
 * Past its retention, so to be treated as absent, whether or not TTL has removed it yet. A record in doubt, or released
 * with an open effect, never expires by our own judgement: its next retry must not be taken for a stranger.
 */
export function isExpired(record: OnceRecord, now: number): boolean {
  const isOpen = record.state === 'in-doubt' || (record.state === 'released' && record.dueAt !== undefined);
  return !isOpen && record.expiresAt <= expiryThreshold(now);
}

/** The one definition of lapsed. At exactly `leaseUntil + skew` the claim still holds. */
export function isLapsed(record: OnceRecord, now: number, skew: number): boolean {
  return record.state === 'claimed' && record.leaseUntil + skew < now;
}

/** A fence that grows even over expiry, when the previous one is forgotten. */
export function nextFence(now: number, previous: number): number {
  return Math.max(now, previous + 1);
}

/** How a newcomer stands to a record that is there. */
export type Judgement = 'absent' | 'mismatch' | 'replay' | 'busy' | 'free' | 'lapsed' | 'in-doubt';

/** What a newcomer with this fingerprint finds. Mismatch comes before everything that a live record could say. */
export function judge(
  record: OnceRecord | undefined,
  newcomer: { readonly fingerprint: string | undefined; readonly now: number; readonly skew: number },
): Judgement {
  if (record === undefined || isExpired(record, newcomer.now)) return 'absent';
  if (!sameMeaning(record.fingerprint, newcomer.fingerprint)) return 'mismatch';
  switch (record.state) {
    case 'completed':
      return 'replay';
    case 'released':
      return 'free';
    case 'in-doubt':
      return 'in-doubt';
    case 'claimed':
      return isLapsed(record, newcomer.now, newcomer.skew) ? 'lapsed' : 'busy';
    default:
      // a newer version wrote a state that this one does not know: leave it alone
      record.state satisfies never;
      return 'busy';
  }
}

/**
 * Fingerprints of different versions cannot be compared (a deploy is under way), and a record without one was
 * released before anything ran; neither is a mismatch.
 */
function sameMeaning(stored: string | undefined, given: string | undefined): boolean {
  if (stored === undefined || given === undefined) return true;
  return stored === given || versionOf(stored) !== versionOf(given);
}

function versionOf(fingerprint: string): string {
  return fingerprint.slice(0, fingerprint.indexOf(':'));
}
