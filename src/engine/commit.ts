import { setTimeout as sleep } from 'node:timers/promises';
import { type OutboxEvent, type Outgoing, outboxId, type Unique, uniqueId } from '../domain/companion.ts';
import { deriveKey } from '../domain/derive.ts';
import { digestOf } from '../domain/digest.ts';
import { closed } from '../domain/journal.ts';
import { decodeOutcome, statusOfValue } from '../domain/outcome.ts';
import { expirySeconds, isExpired, judge, nextFence, type OnceRecord } from '../domain/record.ts';
import { appliedByMe, type Held } from '../domain/transition.ts';
import { CommitRefused, IdempotencyError, isIdempotencyError } from '../errors.ts';
import type { Commit, Committed, WriteAction } from '../store/commit.ts';
import { type Answered, refuseBusy, refuseInDoubt, replay } from './answers.ts';
import { encodeFor, reportCompleted } from './encode.ts';
import { type Holder, type Journal, leaseLost } from './journal.ts';
import type { Operation } from './operation.ts';
import { fromRejection } from './rejection.ts';
import { callLimits, timeLeft } from './request.ts';

/** What is committed beside the outcome and the caller's writes. */
export interface CommitOptions {
  /**
   * Business references that must never come twice in this scope, each as a list of its parts: `[['acct-1', 'ext-9']]`. Each
   * becomes a permanent item, without an end. When one exists: the same operation with the same fingerprint is
   * `already-applied`, anything else is `key-reused`.
   */
  readonly unique?: readonly (readonly string[])[] | undefined;
  /** What you call the thing, such as the order's id: kept in the unique items, and told to whoever comes late. */
  readonly reference?: string | undefined;
  /** What follows from the commit: events for `outboxHandler` to relay, in this order. */
  readonly outbox?: readonly OutboxMessage[] | undefined;
}

/** An event to be relayed. */
export interface OutboxMessage {
  /** Such as `order-placed`. */
  readonly type: string;
  /** JSON. */
  readonly detail: unknown;
  /** What consumers dedupe on. Default: derived from the record, this life of it, the type and the place in the list. */
  readonly key?: string | undefined;
}

/** What a commit did to its claim: the outcome stands, or somebody else's answer does. */
export type Ending =
  | { readonly kind: 'committed'; readonly outcome: string; readonly held: Held }
  | { readonly kind: 'standing'; readonly answered: Answered };

/** The claim a commit ends, or, without a claim before it, the record that it puts. */
export interface Committer {
  readonly holder: Holder;
  readonly journal: Journal;
  readonly attempt: number;
  /** Whether a claim was made before. */
  readonly isClaimed: boolean;
  ending: Ending | undefined;
  /** Commits that were tried: each has a token of its own. */
  tries: number;
}

/** How long a transaction is tried, with pauses, before its outcome is settled by a read. */
const longestEffort = 5000;
const pauses = [20, 60, 150, 400, 800];

/** A commit that nothing protects, in milliseconds. */
const unheldBudget = 5000;

/** Answers of records that changed in between, in a row. */
const maximumRounds = 4;

/** An outbox item that nobody relays is noticed long before; it is no archive. */
const outboxKept = 7 * 24 * 3600 * 1000;

/**
 * Writes the outcome and the caller's writes, all or nothing.
 *
 * @throws IdempotencyError `lease-lost`, `already-applied`, `key-reused`, `busy`, `in-doubt`, `input-invalid`, `store`;
 * CommitRefused for a condition of the caller's own
 */
export async function commit<Response>(
  committer: Committer,
  response: Response,
  writes: readonly WriteAction[],
  options: CommitOptions,
): Promise<Response> {
  const { holder, journal } = committer;
  const { operation } = holder.request;
  if (committer.ending !== undefined) throw invalid(holder, 'the claim was committed before');
  if (!Array.isArray(writes)) throw invalid(holder, 'writes must be a list');
  if (journal.isOpen()) {
    const message = 'An effect is undecided: nothing is committed over it.';
    throw new IdempotencyError('in-doubt', message, { id: holder.id, retryAfter: 30 });
  }
  const outcome = outcomeOf(holder, response);
  let seen: OnceRecord | undefined;
  for (let round = 0; round < maximumRounds; round += 1) {
    const request = build(committer, seen, outcome, writes, { ...options, status: statusOfValue(response) });
    const committed = await settled(committer, request);
    switch (committed.kind) {
      case 'applied':
      case 'applied-before':
        committer.ending = { kind: 'committed', outcome, held: heldAfter(holder, request) };
        reportCompleted(operation, holder.id, { kind: 'kept', of: 'value', text: outcome });
        return response;
      case 'taken':
        throw taken(committer, committed.by);
      case 'write-refused':
        throw new CommitRefused(committed.index, committed.reason, committed.item);
      case 'refused': {
        const answer = standing(committer, committed.record);
        if (answer.kind === 'stands') return answer.value as Response;
        seen = answer.seen;
        break;
      }
      default:
        throw committed satisfies never;
    }
  }
  throw new IdempotencyError('busy', 'Many callers contend for this key.', { id: holder.id, retryAfter: 1 });
}

/** Who holds the record now: a record that was put, or taken over, has the fence of that. */
function heldAfter({ id, owner, fence }: Holder, { transition }: Commit): Held {
  return transition !== undefined && 'record' in transition ? transition.record : { id, owner, fence };
}

function outcomeOf(holder: Holder, response: unknown): string {
  const encoded = encodeFor(holder.request.operation, { kind: 'value', value: response });
  if (encoded.kind === 'kept') return encoded.text;
  const why =
    encoded.kind === 'server-error'
      ? `a ${encoded.status} is no outcome: throw or return it without a commit`
      : `the response cannot be stored: ${encoded.detail}`;
  throw invalid(holder, why);
}

/** Another transaction on every call, the same on every repetition: the token says which. */
function build(
  committer: Committer,
  seen: OnceRecord | undefined,
  outcome: string,
  writes: readonly WriteAction[],
  { unique = [], reference, outbox = [], status }: CommitOptions & { readonly status: number | undefined },
): Commit {
  const { holder } = committer;
  const { operation, identity, fingerprint } = holder.request;
  const now = operation.store.now();
  committer.tries += 1;
  const token = digestOf([holder.owner, String(holder.fence), String(committer.tries)])
    .toString('base64url')
    .slice(0, 36);
  const subject = { operation: operation.name, record: holder.id, createdAt: now };
  const ids = unique.map((parts) => uniqueId(identity.scope, checkedParts(holder, parts)));
  return {
    token,
    transition: transitionOf(committer, seen, outcome, now),
    uniques: [...new Set(ids)].map((id) => ({ id, ...subject, fingerprint, reference, status })),
    outgoing: outbox.length === 0 ? [] : [outgoing(holder, subject, outbox)],
    writes,
  };
}

function checkedParts(holder: Holder, parts: readonly string[]): readonly string[] {
  const isList = Array.isArray(parts) && parts.length > 0;
  if (isList && parts.every((part) => typeof part === 'string' && part !== '')) return parts;
  throw invalid(holder, '"unique" must be a list of lists of non-empty strings');
}

function outgoing(
  { id, fence }: Pick<Holder, 'id' | 'fence'>,
  subject: Pick<Outgoing, 'operation' | 'record' | 'createdAt'>,
  outbox: readonly OutboxMessage[],
): Outgoing {
  const events = outbox.map(
    ({ type, detail, key }, index): OutboxEvent => ({
      type,
      detail: detail ?? null,
      key: key ?? deriveKey(`${id}#${fence}`, `outbox:${type}`, index),
    }),
  );
  return {
    id: outboxId(id, fence),
    ...subject,
    events: JSON.stringify(events),
    expiresAt: expirySeconds(subject.createdAt + outboxKept),
  };
}

function transitionOf(
  { holder, journal, attempt, isClaimed }: Committer,
  seen: OnceRecord | undefined,
  outcome: string,
  now: number,
): NonNullable<Commit['transition']> {
  const { operation, fingerprint } = holder.request;
  const expiresAt = expirySeconds(now + operation.retention);
  const effects = journal.all();
  if (isClaimed) {
    const after = effects === undefined ? undefined : closed(effects);
    return { kind: 'complete', held: holder, outcome, endedAt: now, expiresAt, effects: after };
  }
  const record = {
    id: holder.id,
    state: 'completed',
    owner: holder.owner,
    fence: nextFence(holder.fence, seen?.fence ?? 0),
    attempt: seen === undefined || isExpired(seen, now) ? attempt : seen.attempt + 1,
    ...(fingerprint !== undefined && { fingerprint }),
    claimedAt: now,
    leaseUntil: now,
    endedAt: now,
    expiresAt,
    retention: operation.retention,
    skew: operation.skew,
    outcome,
  } as const;
  if (seen === undefined || isExpired(seen, now)) return { kind: 'claim', now, record };
  return { kind: 'take-over', seen, record };
}

/**
 * Sends until it is known how it ended, within the time left: what is contended passes, and a transaction whose reply was lost is
 * repeated under its token. In the end our record tells; if it cannot be read either, the answer is `store`, never success.
 */
async function settled(
  committer: Committer,
  request: Commit,
): Promise<Exclude<Committed, { kind: 'contended' }>> {
  const { operation } = committer.holder.request;
  const { store } = operation;
  const limits = (): { budget: number } => callLimits(committer.holder.request);
  const started = performance.now();
  let failure: unknown;
  for (const pause of [...pauses, undefined]) {
    try {
      const committed = await store.commit(request, limits());
      if (committed.kind !== 'contended') return committed;
      failure = undefined;
    } catch (error) {
      // bad input was refused before anything was sent
      if (!isIdempotencyError(error) || error.code !== 'store') throw error;
      failure = error;
    }
    const spent = performance.now() - started;
    if (pause === undefined || spent + pause > Math.min(longestEffort, timeLeft(committer.holder.request)))
      break;
    await sleep(pause * (0.5 + Math.random() / 2));
  }
  const { name, observe } = operation;
  const error =
    failure === undefined
      ? new IdempotencyError('store', 'The transaction met others all the time; nothing was written.', {
          retryAfter: 1,
        })
      : (failure as IdempotencyError);
  const record = failure === undefined ? undefined : await readBack(committer, limits());
  const { transition } = request;
  if (transition !== undefined && record !== undefined && appliedByMe(transition, record))
    return { kind: 'applied-before' };
  observe({ type: 'store-failed', operation: name, id: committer.holder.id, at: 'commit', error });
  throw error;
}

async function readBack({ holder }: Committer, limits: { budget: number }): Promise<OnceRecord | undefined> {
  return holder.request.operation.store.read(holder.id, limits).catch(() => undefined);
}

/** Our record was not as it had to be: somebody's answer stands, or (without a claim before) it can be tried once more. */
function standing(
  committer: Committer,
  record: OnceRecord | undefined,
):
  | { readonly kind: 'stands'; readonly value: unknown }
  | { readonly kind: 'again'; readonly seen: OnceRecord | undefined } {
  const { holder } = committer;
  const { request } = holder;
  const { operation, fingerprint } = request;
  const judgement = judge(record, { fingerprint, now: operation.store.now(), skew: operation.skew });
  const end = (answered: Answered): Answered => {
    committer.ending = { kind: 'standing', answered };
    return answered;
  };
  if (record !== undefined && judgement === 'replay') end(replay(request, record));
  if (committer.isClaimed) {
    operation.observe({ type: 'lease-lost', operation: operation.name, id: holder.id, at: 'complete' });
    throw leaseLost(holder.id);
  }
  switch (judgement) {
    case 'absent':
    case 'free':
      return { kind: 'again', seen: record };
    case 'replay':
      return { kind: 'stands', value: answerOf(holder, record as OnceRecord) };
    case 'mismatch':
      throw new IdempotencyError(
        'key-reused',
        'This key was used before for a request that meant something else.',
        { id: holder.id },
      );
    case 'busy':
      throw errorOf(end(refuseBusy(request, record as OnceRecord)));
    default:
      throw errorOf(end(refuseInDoubt(request)));
  }
}

function answerOf(holder: Holder, record: OnceRecord): unknown {
  const outcome = decodeOutcome(record.outcome);
  if (outcome.kind === 'rejection') throw fromRejection(outcome.rejection);
  if (outcome.kind === 'value') return outcome.value;
  throw new IdempotencyError('outcome-not-kept', 'The request was carried out; its answer was not kept.', {
    id: holder.id,
  });
}

function errorOf(answered: Answered): unknown {
  return answered.kind === 'refused' ? answered.error : undefined;
}

/** The same once more is no error of the caller's, and is told what became of it; anything else took a name that is in use. */
function taken({ holder }: Committer, by: Unique): IdempotencyError {
  const { operation, fingerprint } = holder.request;
  const isSame = by.operation === operation.name && by.fingerprint === fingerprint;
  const { reference, status, createdAt } = by;
  if (!isSame) {
    return new IdempotencyError(
      'key-reused',
      'A business reference of this request was used for something else.',
      { id: holder.id },
    );
  }
  return new IdempotencyError('already-applied', 'This was done before.', {
    id: holder.id,
    appliedAt: new Date(createdAt).toISOString(),
    ...(reference !== undefined && { reference }),
    ...(status !== undefined && { originalStatus: status }),
  });
}

function invalid({ id }: Holder, why: string): IdempotencyError {
  return new IdempotencyError('input-invalid', `commit: ${why}.`, { id });
}

/**
 * Where nothing protects a run, what is to be written is written all the same, in one transaction: the caller's writes and the
 * outbox. There is no outcome and nothing is unique.
 */
export async function commitUnheld<Response>(
  { store }: Operation,
  parent: string,
  response: Response,
  writes: readonly WriteAction[],
  { outbox = [] }: CommitOptions,
): Promise<Response> {
  const subject = { operation: '', record: '', createdAt: store.now() };
  const events = outbox.length === 0 ? [] : [outgoing({ id: parent, fence: 0 }, subject, outbox)];
  if (writes.length + events.length === 0) return response;
  const token = digestOf([parent, 'commit']).toString('base64url').slice(0, 36);
  const committed = await store.commit(
    { token, uniques: [], outgoing: events, writes },
    { budget: unheldBudget },
  );
  switch (committed.kind) {
    case 'applied':
      return response;
    case 'write-refused':
      throw new CommitRefused(committed.index, committed.reason, committed.item);
    default:
      throw new IdempotencyError('store', 'The transaction could not be carried out.', { retryAfter: 1 });
  }
}
