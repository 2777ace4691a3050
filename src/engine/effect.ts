import { type Duration, toMilliseconds } from '../domain/duration.ts';
import { checkOptions, isBoolean, isDuration, isFunction, isLike, type Rule } from '../domain/options.ts';
import { register } from './effects-known.ts';
import type { Reconciled } from './options.ts';

/** What the run of an effect is told. */
export interface RunContext {
  /**
   * The key to hand to the provider: the same for this step of this operation in every attempt, process and version. 43
   * URL-safe characters.
   */
  readonly token: string;
  /** Which of several performances of one effect. */
  readonly index: number | undefined;
  /** Grows with every takeover: for a provider that refuses a smaller one than it has seen. */
  readonly fence: number;
  /** 1 for the operation's first run, one more for every run after it. */
  readonly attempt: number;
  /** Aborts when the lease is over: hand it to the client. */
  readonly signal: AbortSignal;
  /**
   * Writes the provider's id into the journal, at once: a process that dies after it leaves something to ask by.
   *
   * @throws IdempotencyError `lease-lost`, `store`
   */
  readonly reference: (id: string) => Promise<void>;
}

/** What the question about an effect is told. */
export interface ReconcileContext {
  /** The key that `run` was told. */
  readonly token: string;
  readonly index: number | undefined;
  /** The provider's id, where `run` got to know it before it was interrupted. */
  readonly reference: string | undefined;
  readonly begunAt: Date;
  /** Aborts when the answer would come too late to count: after 10 seconds, or with the invocation. */
  readonly signal: AbortSignal;
}

/** Options of {@link defineEffect}. */
export interface EffectOptions<Input, Result, Kept extends boolean = false> {
  /**
   * Stable name of what is done, such as `charge-card`: 1 to 64 letters, digits and `. _ - / :`. It is part of the token
   * and of the journal: renaming it forgets what was begun.
   */
  readonly name: string;
  /**
   * Makes it happen, once. What it returns is kept and given to every later attempt. When it throws, it stays open
   * whether it happened, unless `onFailure` says otherwise. Once it has returned or thrown it must send nothing more.
   */
  readonly run: (input: Input, context: RunContext) => Promise<Result> | Result;
  /**
   * Asks the provider whether it happened, and must not make it happen. It may be called by another process, days later.
   * What it throws counts as `'unknown'`; so does an answer after 10 seconds. Without `keepInput` the input is known only
   * when the handler itself performs the effect again; elsewhere it is `undefined`.
   */
  readonly reconcile: (
    input: Kept extends true ? Input : Input | undefined,
    context: ReconcileContext,
  ) => Promise<Reconciled<Result>> | Reconciled<Result>;
  /**
   * How long after the end of the lease under which it was begun `'absent'` starts to count: until then the request of a
   * dead process may still arrive. Default 60 seconds: few clients wait longer. Zero for a provider that merges
   * requests with one token: there a request that comes late does no harm. Up to a day.
   */
  readonly settleAfter?: Duration | undefined;
  /**
   * Whether the input itself is written into the journal, for `reconcile`. Default `false`, a digest only: inputs hold
   * names and amounts. It has to survive storing, as results do.
   */
  readonly keepInput?: Kept | undefined;
  /**
   * What an error of `run` says: `'record'`, it is the provider's final answer and is thrown again in every later attempt;
   * `'open'`, whether it happened is not known. Default: an error with a deliberate 4xx status (not 401, 403, 408, 409,
   * 423, 425, 429) is recorded, any other is open.
   */
  readonly onFailure?: ((error: unknown) => 'record' | 'open') | undefined;
}

/** An external action that is journalled before and after, and can be asked about. Made by {@link defineEffect}. */
export interface Effect<Input, Result> {
  readonly name: string;
  readonly run: (input: Input, context: RunContext) => Promise<Result> | Result;
  readonly reconcile: (
    input: Input | undefined,
    context: ReconcileContext,
  ) => Promise<Reconciled<Result>> | Reconciled<Result>;
  /** Milliseconds. */
  readonly settleAfter: number;
  readonly keepInput: boolean;
  readonly onFailure: ((error: unknown) => 'record' | 'open') | undefined;
}

/** Any effect, where its types do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: an effect takes its input in and gives its result out, so no type covers all
export type AnyEffect = Effect<any, any>;

/** See `settleAfter`. */
export const defaultSettleAfter: Duration = { seconds: 60 };

/** What an effect may be called: the journal's attributes carry the name. */
export const isEffectName: Rule = isLike('1 to 64 letters, digits and . _ - / :', /^[\w./:-]{1,64}$/);

const rules: Record<keyof EffectOptions<unknown, unknown>, Rule> = {
  name: isEffectName,
  run: isFunction,
  reconcile: isFunction,
  settleAfter: isDuration({ milliseconds: 0 }, { days: 1 }),
  keepInput: isBoolean,
  onFailure: isFunction,
};

/**
 * Defines an external action for `claim.perform`. Define it once, beside the client it uses, so that the handler, a later
 * attempt in another process and the sweeper share it.
 *
 * Failure semantics: the record says "begun" before `run` is called and "done" after it. A process that dies in between
 * leaves an open effect; nothing runs it again before `reconcile` was asked and said `'absent'` late enough to count.
 *
 * @throws IdempotencyError `options`
 */
export function defineEffect<Input, Result, Kept extends boolean = false>(
  options: EffectOptions<Input, Result, Kept>,
): Effect<Input, Result> {
  checkOptions('defineEffect', options, rules, ['name', 'run', 'reconcile']);
  const { name, run, reconcile, settleAfter = defaultSettleAfter, keepInput = false, onFailure } = options;
  const effect: Effect<Input, Result> = Object.freeze({
    name,
    run,
    reconcile: reconcile as Effect<Input, Result>['reconcile'],
    settleAfter: toMilliseconds(settleAfter) ?? 0,
    keepInput,
    onFailure,
  });
  register(effect);
  return effect;
}
