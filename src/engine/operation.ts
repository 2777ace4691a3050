import { type Duration, toMilliseconds } from '../domain/duration.ts';
import {
  checkOptions,
  either,
  isDuration,
  isFunction,
  isLike,
  isWord,
  oneOf,
  type Rule,
} from '../domain/options.ts';
import { IdempotencyError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { defaultSettleAfter } from './effect.ts';
import { harmless, type Observer } from './observe.ts';
import type { OnLapse, OperationOptions, Reconcile } from './options.ts';
import type { FailureVerdict, ValueVerdict } from './verdict.ts';

/** What the lapse options come down to. */
export type LapseRule =
  | { readonly kind: 'hold' }
  | { readonly kind: 'rerun' }
  | { readonly kind: 'reconcile'; readonly reconcile: Reconcile<unknown>; readonly settleAfter: number };

/** Checked options, in milliseconds. */
export interface Operation {
  readonly name: string;
  readonly store: Store;
  readonly retention: number;
  readonly lease: number | undefined;
  readonly skew: number;
  readonly wait: number;
  readonly onLapse: LapseRule;
  readonly claim: 'first' | 'at-commit';
  readonly classify: ((result: unknown) => ValueVerdict) | undefined;
  readonly onFailure: ((error: unknown) => FailureVerdict) | undefined;
  readonly observe: Observer;
  /** The form of a result that is stored: HTTP leaves out headers that must not be sent twice. */
  readonly storedForm: (result: unknown) => unknown;
}

const defaults = {
  retention: { hours: 24 },
  skew: { seconds: 3 },
} as const;

/** What `onLapse` takes. */
export const isOnLapse: Rule = oneOf(
  "'hold', 'rerun', a function, or { reconcile, settleAfter }",
  (value) => {
    if (value === 'hold' || value === 'rerun' || typeof value === 'function') return true;
    if (typeof value !== 'object' || value === null) return false;
    const { reconcile, settleAfter, ...rest } = value as { reconcile?: unknown; settleAfter?: unknown };
    if (typeof reconcile !== 'function' || Object.keys(rest).length > 0) return false;
    return settleAfter === undefined || isDuration({ milliseconds: 0 }, { days: 1 }).test(settleAfter);
  },
);

export const isStore: Rule = oneOf('a store, such as dynamoStore()', (value) => {
  const store = value as Partial<Store> | null;
  return (
    typeof store?.write === 'function' && typeof store.read === 'function' && typeof store.now === 'function'
  );
});

const rules: Record<keyof OperationOptions<unknown>, Rule> = {
  store: isStore,
  operation: isLike('1 to 64 letters, digits and . _ - / :', /^[\w./:-]{1,64}$/),
  retention: isDuration({ seconds: 1 }, { days: 1827 }),
  lease: isDuration({ milliseconds: 1 }, { hours: 24 }),
  skew: isDuration({ milliseconds: 0 }, { minutes: 1 }),
  wait: isDuration({ milliseconds: 0 }, { minutes: 15 }),
  onLapse: isOnLapse,
  claim: isWord('first', 'at-commit'),
  classify: isFunction,
  onFailure: either(isWord('release', 'record', 'hold'), isFunction),
  observe: isFunction,
};

/**
 * Checks the options of an adapter, its own included, and brings the common ones into their final form.
 *
 * @throws IdempotencyError `options`
 */
export function defineOperation<Result>(
  adapter: string,
  options: OperationOptions<Result>,
  own: Readonly<Record<string, Rule>>,
  required: readonly string[],
  storedForm: Operation['storedForm'] = (result) => result,
): Operation {
  checkOptions(adapter, options, { ...rules, ...own }, ['store', 'operation', ...required]);
  const operation: Operation = {
    name: options.operation,
    store: options.store,
    retention: length(options.retention ?? defaults.retention),
    lease: options.lease === undefined ? undefined : length(options.lease),
    skew: length(options.skew ?? defaults.skew),
    wait: length(options.wait ?? { milliseconds: 0 }),
    claim: options.claim ?? 'first',
    onLapse: lapseRule(options.onLapse ?? 'hold'),
    classify: options.classify as Operation['classify'],
    onFailure: failureRule(options.onFailure),
    observe: harmless(options.observe),
    storedForm,
  };
  refuseContradictions(adapter, operation);
  warnOfTwins(operation);
  return operation;
}

function length(duration: Duration): number {
  return toMilliseconds(duration) ?? 0;
}

/** The rule that an `onLapse` spells. */
export function lapseRule<Result>(onLapse: OnLapse<Result>): LapseRule {
  if (onLapse === 'hold' || onLapse === 'rerun') return { kind: onLapse };
  const { reconcile, settleAfter } = typeof onLapse === 'function' ? { reconcile: onLapse } : onLapse;
  return {
    kind: 'reconcile',
    reconcile: reconcile as Reconcile<unknown>,
    settleAfter: length(settleAfter ?? defaultSettleAfter),
  };
}

function failureRule(onFailure: OperationOptions<unknown>['onFailure']): Operation['onFailure'] {
  return typeof onFailure === 'string' ? () => onFailure : onFailure;
}

function refuseContradictions(adapter: string, { lease, wait, retention, skew }: Operation): void {
  if (lease === undefined) return;
  const refuse = (message: string): never => {
    throw new IdempotencyError('options', `${adapter}: ${message}`);
  };
  if (retention < lease + skew) {
    refuse(
      'option "retention" must be at least "lease" + "skew": a retry at the end of the lease would find nothing.',
    );
  }
  if (wait > lease) refuse('option "wait" must not be longer than "lease": nobody answers after it.');
}

const namesInUse = new WeakMap<Store, Set<string>>();

/** Two wrapped functions under one name share their records: the second would replay the first one's answers. */
function warnOfTwins({ store, name }: Operation): void {
  const names = namesInUse.get(store) ?? new Set();
  namesInUse.set(store, names);
  if (names.has(name)) {
    process.emitWarning(
      `lambda-once: operation "${name}" is defined twice on one store; the two share their records.`,
    );
  }
  names.add(name);
}
