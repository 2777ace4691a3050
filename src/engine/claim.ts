import { randomBytes } from 'node:crypto';
import { deriveKey, deriveUuid } from '../domain/derive.ts';
import type { OnceRecord } from '../domain/record.ts';
import { IdempotencyError } from '../errors.ts';
import type { WriteAction } from '../store/commit.ts';
import { capture, type Makers } from './capture.ts';
import { type CommitOptions, type Committer, commit, commitUnheld } from './commit.ts';
import type { Effect } from './effect.ts';
import { type Holder, Journal } from './journal.ts';
import type { Operation } from './operation.ts';
import { type Performance, perform, performUnheld } from './perform.ts';
import { leaseUntil, type Request } from './request.ts';

/** The right to run, as user code holds it: always the last argument of a handler. */
export interface Claim {
  /** The record's id: safe to log. */
  readonly id: string;
  readonly operation: string;
  readonly scope: string;
  /** The caller's key, as it was normalised. Do not log it: a key may be an e-mail address. */
  readonly key: string;
  /**
   * Grows with every takeover. Hand it to a downstream that can refuse a smaller one than it has seen: it shuts out an
   * attempt that woke up too late.
   */
  readonly fence: number;
  /** 1 for the first run, one more for every run after it. */
  readonly attempt: number;
  /** False where nothing protects this run: a safe method, no key where none is required, or switched off. */
  readonly held: boolean;
  /**
   * The key to hand to a downstream for one step of the work, so that it recognises the step when a later attempt takes it
   * again. Derived from the record's id: the same in every attempt, process and version; 43 URL-safe characters. The
   * same step several times needs an index.
   */
  token(name: string, index?: number): string;
  /** The same as a UUID, for an id that must be the same in every attempt. Costs nothing. */
  uuid(name: string, index?: number): string;
  /**
   * Performs an external action that is journalled: "begun" before its `run`, its result after it, one write each. A later
   * attempt gets the stored result; where it was begun and nobody wrote how it ended, the provider is asked first. The
   * same effect several times in one operation needs an index.
   *
   * Failure semantics: a process that dies inside leaves an open effect. No outcome is recorded over it, and nothing runs it
   * again before `reconcile` said `'absent'` late enough to count. What `run` throws is thrown on; unless it is the
   * provider's final answer, the effect stays open and the operation is in doubt or released until it is decided. The
   * first attempt gets the result as `run` gave it, later ones as JSON keeps it; up to 64 KB are kept.
   *
   * @throws IdempotencyError `in-doubt` when the provider cannot tell yet, `lease-lost` when the lease is over or the claim
   * was given away (then nothing was sent), `input-invalid` for an input that cannot be digested or differs from the one
   * that this step had before, `outcome-not-kept`, `store`
   */
  perform<Input, Result>(effect: Effect<Input, Result>, input: Input, index?: number): Promise<Result>;
  /**
   * A value that is generated once and the same in every attempt: a time, a random number, a version that was looked up. One
   * write; the makers of an object share it. It comes back as JSON keeps it, also the first time; up to 64 KB.
   *
   * @throws IdempotencyError `input-invalid` for a value that does not survive storing, `lease-lost`, `store`
   */
  capture<Value>(name: string, make: () => Value | Promise<Value>): Promise<Value>;
  capture<Values extends Record<string, unknown>>(makers: Makers<Values>): Promise<Values>;
  /**
   * The outcome and your own DynamoDB writes in one transaction, on the condition that the claim still holds: all of it happens or
   * nothing. Return what it returns: `return claim.commit(response, [{ Put: { TableName, Item } }])`. Up to 99 writes, 4 MB.
   *
   * Failure semantics: there is no window between the effect and the outcome. A reply that is lost is settled by repeating the same
   * transaction or by reading the record; when that fails too the error is `store`, never success. After a condition of your own
   * failed, nothing is written and the claim is as it was: answer, or commit something else.
   *
   * @throws CommitRefused for a condition of your own, with its index and item; IdempotencyError `already-applied` when a
   * `unique` reference was committed before by the same request, `key-reused` when by another, `lease-lost`, `in-doubt` while an
   * effect is open, `input-invalid` for a response or a write that cannot be, `store`
   */
  commit<Response>(
    response: Response,
    writes: readonly WriteAction[],
    options?: CommitOptions,
  ): Promise<Response>;
  /**
   * Aborts when the lease is over: from then on somebody else may run. In the handler's seat also when Middy's early
   * timeout fires.
   */
  readonly signal: AbortSignal;
}

/** Ours: the claim together with what ends it. */
export interface HeldClaim extends Holder {
  readonly claim: Claim;
  readonly journal: Journal;
  /** How the handler's commit ended the claim, if it did. */
  readonly committer: Committer;
  /** When a sweep is due, as the claim wrote it. */
  readonly dueAt: number | undefined;
  /** Stops the lease's timer. */
  done(): void;
}

/** Fresh for every attempt. The request id would not do: Lambda's asynchronous retries repeat it. */
export function newOwner(): string {
  return randomBytes(12).toString('base64url');
}

/** The claim that a record, won by us, stands for. */
export function heldClaim(request: Request, record: OnceRecord, isClaimed = true): HeldClaim {
  const { operation, identity, signal } = request;
  const { id, owner, fence, attempt } = record;
  const lease = leaseSignal(record.leaseUntil - operation.store.now(), signal);
  const holder: Holder = { id, owner, fence, leaseUntil: record.leaseUntil, request };
  const journal = new Journal(holder, record);
  const committer: Committer = { holder, journal, attempt, isClaimed, ending: undefined, tries: 0 };
  const inAClaim = <Result>(what: string, call: () => Promise<Result>): Promise<Result> =>
    isClaimed ? journal.guard(call()) : Promise.reject(unclaimed(what));
  const claim: Claim = {
    id,
    operation: operation.name,
    scope: identity.scope,
    key: identity.key,
    fence,
    attempt,
    held: true,
    ...derivedFrom(id),
    perform: performing((what) =>
      inAClaim('perform', () => perform(holder, journal, what, { attempt, signal: lease.signal })),
    ),
    capture: capturing((makers) => inAClaim('capture', () => capture(id, journal, makers))),
    commit: (response, writes, options = {}) => journal.guard(commit(committer, response, writes, options)),
    get signal() {
      return lease.signal();
    },
  };
  return { ...holder, dueAt: record.dueAt, claim, journal, committer, done: () => lease.stop() };
}

/** The claim of an operation that makes none before its commit: nobody else knows of it yet. */
export function unmadeClaim(request: Request): HeldClaim {
  const { id, operation } = request;
  const now = operation.store.now();
  const expiresAt = 0;
  const record = {
    id,
    owner: newOwner(),
    fence: now,
    attempt: 1,
    claimedAt: now,
    leaseUntil: leaseUntil(request, now),
  };
  return heldClaim(request, { ...record, state: 'claimed', expiresAt }, false);
}

function unclaimed(what: string): IdempotencyError {
  const message = `claim.${what} needs a claim before it: an operation with claim: 'at-commit' makes none.`;
  return new IdempotencyError('options', message);
}

/**
 * What a handler that runs unprotected gets in the claim's place, so that it needs no second way to be written. Its tokens
 * are of this one run: nothing tells a retry of it from another intent.
 */
export function unheldClaim(operation: Operation): Claim {
  const { signal } = new AbortController();
  const parent = newOwner();
  return {
    id: '',
    operation: operation.name,
    scope: '',
    key: '',
    fence: 0,
    attempt: 1,
    held: false,
    ...derivedFrom(parent),
    perform: performing((what) => performUnheld(parent, what, signal)),
    capture: capturing(makeAll),
    commit: (response, writes, options = {}) => commitUnheld(operation, parent, response, writes, options),
    signal,
  };
}

/** A result has the type that its effect says; the journal keeps only texts. */
function performing(performed: (what: Performance) => Promise<unknown>): Claim['perform'] {
  return async <Input, Result>(effect: Effect<Input, Result>, input: Input, index?: number) =>
    (await performed({ effect, input, index })) as Result;
}

/** One value or several, over the way to capture several. */
function capturing(
  captureAll: <Values extends Record<string, unknown>>(makers: Makers<Values>) => Promise<Values>,
): Claim['capture'] {
  return async (given: string | Makers<Record<string, unknown>>, make?: () => unknown) => {
    if (typeof given !== 'string') return captureAll(given);
    const { [given]: value } = await captureAll({ [given]: make as () => unknown });
    // biome-ignore lint/suspicious/noExplicitAny: the overloads say which of the two is returned
    return value as any;
  };
}

async function makeAll<Values extends Record<string, unknown>>(makers: Makers<Values>): Promise<Values> {
  const names = Object.keys(makers) as (keyof Values & string)[];
  const made = names.map(async (name) => [name, await makers[name]()] as const);
  return Object.fromEntries(await Promise.all(made)) as Values;
}

function derivedFrom(parent: string): Pick<Claim, 'token' | 'uuid'> {
  return {
    token: (name, index) => deriveKey(parent, name, index),
    uuid: (name, index) => deriveUuid(parent, name, index),
  };
}

/** Made when first asked for: most handlers never do. The timer does not keep the process alive. */
function leaseSignal(
  milliseconds: number,
  outer: AbortSignal | undefined,
): { readonly signal: () => AbortSignal; readonly stop: () => void } {
  const ends = performance.now() + milliseconds;
  let signal: AbortSignal | undefined;
  let timer: NodeJS.Timeout | undefined;
  const start = (): AbortSignal => {
    const controller = new AbortController();
    const over = (): void => controller.abort(new DOMException('The lease is over.', 'TimeoutError'));
    const left = ends - performance.now();
    if (left > 0) timer = setTimeout(over, left).unref();
    else over();
    return outer === undefined ? controller.signal : AbortSignal.any([controller.signal, outer]);
  };
  return { signal: () => (signal ??= start()), stop: () => clearTimeout(timer) };
}
