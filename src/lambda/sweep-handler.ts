import { checkOptions, isFunction, oneOf, type Rule } from '../domain/options.ts';
import { contain } from '../engine/contain.ts';
import type { AnyEffect } from '../engine/effect.ts';
import { harmless, type Observer } from '../engine/observe.ts';
import { isOnLapse, isStore, lapseRule } from '../engine/operation.ts';
import type { OnLapse } from '../engine/options.ts';
import type { LambdaContext } from '../engine/request.ts';
import { metric } from '../names.ts';
import type { Store, TableSize } from '../store/store.ts';
import { emfLine } from './emf.ts';
import { type SweepReport, sweepAll } from './sweep-pass.ts';

/** Options of {@link sweepHandler}. */
export interface SweepOptions {
  readonly store: Store;
  /** Every effect that any operation on this table performs. One that is missing here leaves its records in doubt. */
  readonly effects?: readonly AnyEffect[] | undefined;
  /**
   * What to do about lapsed claims, by operation, as the operation's own `onLapse` says it. `'hold'` and `'rerun'` need not be
   * told: the record says them. An operation that reconciles has to be here, with the same function.
   */
  // biome-ignore lint/suspicious/noExplicitAny: each operation has results of its own
  readonly operations?: Readonly<Record<string, OnLapse<any>>> | undefined;
  /** How many records are asked about at once: 1 to 100. Default 5, which no provider minds. */
  readonly concurrency?: number | undefined;
  /** Told of every question and its answer. */
  readonly observe?: Observer | undefined;
  /** Given the report of each pass, also of an empty one. Default: one line of JSON on standard
   * output, in CloudWatch's embedded metric format, with the size of the table where the role may ask for it. */
  readonly log?: ((report: SweepReport) => void) | undefined;
}

const isEffects: Rule = oneOf('a list of effects made by defineEffect, each name once', (value) => {
  if (!Array.isArray(value)) return false;
  const names = value.map((effect: AnyEffect | null) =>
    typeof effect?.reconcile === 'function' && typeof effect.settleAfter === 'number'
      ? effect.name
      : undefined,
  );
  return !names.includes(undefined) && new Set(names).size === names.length;
});

const canSweep: Rule = oneOf(
  isStore.accepts,
  (value) => isStore.test(value) && typeof (value as Partial<Store>).due === 'function',
);

const isOperations: Rule = oneOf(
  `an object of operations, each ${isOnLapse.accepts}`,
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype &&
    Object.values(value).every((each) => isOnLapse.test(each)),
);

const rules: Record<keyof SweepOptions, Rule> = {
  store: canSweep,
  effects: isEffects,
  operations: isOperations,
  concurrency: oneOf('a whole number from 1 to 100', (value) => {
    return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 100;
  }),
  observe: isFunction,
  log: isFunction,
};

/**
 * A Lambda entry for a schedule. Each pass finds the claims whose lease is over, and the effects that nobody decided, asks
 * downstream, and settles them: found completes, absent releases, unknown stays in doubt, is asked about again after a pause that
 * grows from 1 to 15 minutes, and does not expire meanwhile. It never runs a handler or an effect.
 *
 * Failure semantics: it may be killed, run twice at once or against live traffic. Each write is conditioned on exactly what it
 * saw; whoever was quicker wins and the record counts as skipped. A record that fails is counted and does not stop the
 * rest. When what is due cannot be listed, the report is logged and the handler throws.
 *
 * @throws IdempotencyError `options` at construction; when called `store`, `options`
 */
export function sweepHandler(
  options: SweepOptions,
): (event?: unknown, context?: LambdaContext) => Promise<SweepReport> {
  checkOptions('sweepHandler', options, rules, ['store']);
  const { store, effects = [], operations = {}, concurrency = 5, observe, log } = options;
  const known = {
    store,
    effects: new Map(effects.map((effect) => [effect.name, effect])),
    operations: new Map(Object.entries(operations).map(([name, onLapse]) => [name, lapseRule(onLapse)])),
    observe: harmless(observe),
  };
  return async (_event, context) => {
    const size = log === undefined ? await sizeOf(store) : undefined;
    return sweepAll(known, concurrency, context, (report) =>
      contain('log', () => (log === undefined ? logLine(report, size) : log(report))),
    );
  };
}

/** A size that cannot be had, or not soon, is left out: it is no reason not to sweep. */
async function sizeOf(store: Store): Promise<TableSize | undefined> {
  return store.size?.({ budget: 1000 }).catch(() => undefined);
}

/** The report, and CloudWatch metrics with it: zeros too, so that an alarm has data when nothing is stuck. */
function logLine(report: SweepReport, size: TableSize | undefined): void {
  const measured = {
    [metric.sweepExamined]: report.examined,
    [metric.sweepCompleted]: report.completed,
    [metric.sweepReleased]: report.released,
    [metric.sweepInDoubt]: report.inDoubt,
    [metric.sweepSettling]: report.settling,
    [metric.sweepFailed]: report.failed,
    [metric.sweepTruncated]: report.truncated ? 1 : 0,
    [metric.sweepOldestAge]: report.oldestAge,
    ...(size !== undefined && { [metric.tableItems]: size.items, [metric.tableBytes]: size.bytes }),
  };
  console.log(emfLine(measured, Date.now(), { 'lambda-once': 'sweep', ...report }));
}
