import type { Json } from '../../domain/canonical-json.ts';
import { toJson } from '../../domain/canonical-value.ts';
import { type Duration, toMilliseconds } from '../../domain/duration.ts';
import { type BodySelection, fingerprintOf, select } from '../../domain/fingerprint.ts';
import {
  either,
  isBodySelection,
  isDuration,
  isFalse,
  isFunction,
  isScope,
  isWord,
  oneOf,
  type Rule,
} from '../../domain/options.ts';
import { defineOperation, type Operation } from '../../engine/operation.ts';
import type { OperationOptions } from '../../engine/options.ts';
import { newRequest, type Request } from '../../engine/request.ts';
import { requireKey, requireScope, type Yielded } from '../identity.ts';
import type { BusinessKey } from './keys.ts';

/** Options of `idempotentSqs`, `sqsIdempotency` and `idempotentStream`. */
export interface BatchOptions<Item, Context, Result> extends OperationOptions<Result> {
  /**
   * The business's identity for one intent, out of the payload: `bodyKey('orderId')`, or a function of your own. Never the
   * broker's id by default: it changes with every resend and redrive. A record without a key fails by itself.
   */
  readonly key: BusinessKey<Item> | ((record: Item) => string | undefined | Promise<string | undefined>);
  /** Whose keys these are. Default `'none'`: business keys are usually unique by themselves. */
  readonly scope?: 'none' | ((record: Item, context: Context) => Yielded | Promise<Yielded>) | undefined;
  /**
   * What must be the same under one key. Default: the payload, JSON by its meaning and other text by its bytes; inside an
   * SNS or EventBridge envelope only what was published. An allow-list of JSON members, a function, or `false`.
   */
  readonly fingerprint?: false | BodySelection | ((record: Item) => unknown) | undefined;
  /**
   * How many records run at once. Default 10, the default batch size of a queue; 1 for streams, whose order is usually
   * meant. Records of one FIFO group, of one partition key or of one business key never run side by side. 1 to 1000.
   */
  readonly concurrency?: number | undefined;
  /**
   * No record starts with less of the invocation left than this, nor with less than the slowest record of the batch took:
   * it is reported as failed, unclaimed. Default 1 second.
   */
  readonly floor?: Duration | undefined;
  /**
   * `'report'` (default): the response names the failed records; the event source mapping must have
   * `ReportBatchItemFailures`, or they are deleted. `'throw'`: for a mapping without it, throw when any record failed;
   * what is done replays on redelivery.
   */
  readonly onFailures?: 'report' | 'throw' | undefined;
  /**
   * Told of each record that is reported as failed, and why: a refusal has a `code`, such as `busy` or `key-reused`;
   * a record that was never begun (too little time, behind a failure of its group) is named `NotAttempted`.
   */
  readonly onRecordFailure?: ((error: unknown, record: Item) => void) | undefined;
}

/** Checked batch options. */
export interface BatchOperation<Item, Context> {
  readonly operation: Operation;
  readonly concurrency: number;
  readonly floor: number;
  readonly onFailures: 'report' | 'throw';
  readonly onRecordFailure: (error: unknown, record: Item) => void;
  /** Settles a record's identity; throws what is wrong with it. No store call. */
  identify(record: Item, context: Context): Promise<Request>;
}

const rules: Record<Exclude<keyof BatchOptions<never, never, never>, keyof OperationOptions<never>>, Rule> = {
  key: isFunction,
  scope: isScope,
  fingerprint: either(isFalse, isBodySelection, isFunction),
  concurrency: oneOf(
    'a whole number from 1 to 1000',
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000,
  ),
  floor: isDuration({ milliseconds: 0 }, { minutes: 15 }),
  onFailures: isWord('report', 'throw'),
  onRecordFailure: isFunction,
};

/**
 * Checks the options of a batch adapter.
 *
 * @param payload what a record means when neither the key nor the `fingerprint` option says it
 * @throws IdempotencyError `options`
 */
export function defineBatchOperation<Item, Context, Result>(
  adapter: string,
  options: BatchOptions<Item, Context, Result>,
  payload: (record: Item) => Json,
  concurrency: number,
): BatchOperation<Item, Context> {
  const operation = defineOperation(adapter, options, rules, ['key']);
  const { key, scope = 'none', fingerprint = {}, onRecordFailure = () => {} } = options;
  const meaningOf = (key as BusinessKey<Item>).meaning ?? payload;
  return {
    operation,
    concurrency: options.concurrency ?? concurrency,
    floor: toMilliseconds(options.floor ?? { seconds: 1 }) ?? 0,
    onFailures: options.onFailures ?? 'report',
    onRecordFailure,
    identify: async (record, context) => {
      const identity = {
        scope: scope === 'none' ? scope : requireScope(await scope(record, context)),
        key: requireKey(await key(record)),
      };
      return newRequest(operation, identity, fingerprintOfRecord(record, fingerprint, meaningOf), context);
    },
  };
}

function fingerprintOfRecord<Item>(
  record: Item,
  fingerprint: false | BodySelection | ((record: Item) => unknown),
  meaningOf: (record: Item) => Json,
): string | undefined {
  if (fingerprint === false) return undefined;
  if (typeof fingerprint === 'function')
    return fingerprintOf(toJson(fingerprint(record), 'fingerprint(record)'));
  const meaning = meaningOf(record);
  return fingerprintOf(isDocument(meaning) ? ['json', select(meaning[1], fingerprint)] : meaning);
}

function isDocument(meaning: Json): meaning is readonly ['json', Json] {
  return Array.isArray(meaning) && meaning[0] === 'json';
}
