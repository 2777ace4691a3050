import { readHttp } from '../adapters/http/event.ts';
import { parseKey } from '../adapters/http/key.ts';
import { type HttpAnswer, problem } from '../adapters/http/problem.ts';
import { requireScope, type Yielded } from '../adapters/identity.ts';
import { type Unique, uniqueId } from '../domain/companion.ts';
import { checkOptions, isFunction, isScope, isText } from '../domain/options.ts';
import { isStore } from '../engine/operation.ts';
import { IdempotencyError, isIdempotencyError } from '../errors.ts';
import type { Lookup } from '../store/inspect.ts';
import type { Store } from '../store/store.ts';

/** Options of {@link statusHandler}. */
export interface StatusOptions<Event> {
  readonly store: Store;
  /** The operation that is asked about. */
  readonly operation: string;
  /** Whose keys these are: the same as the operation's. */
  readonly scope: 'none' | ((event: Event) => Yielded | Promise<Yielded>);
  /** The idempotency key that is asked about. Default: the header `Idempotency-Key`, else the query parameter `key`. */
  readonly key?: ((event: Event) => Yielded) | undefined;
  /**
   * The business reference that is asked about, in the parts that `claim.commit` was given as `unique`. It answers also when the
   * retention is over. Default: none.
   */
  readonly unique?: ((event: Event) => readonly string[] | undefined) | undefined;
  /**
   * Whether this caller may see the stored answer; it is shown only to who also asks for it, by the query parameter
   * `answer=true`. Default: nobody.
   */
  readonly showAnswer?: ((event: Event) => boolean | Promise<boolean>) | undefined;
}

/** What the caller is told. */
export interface OperationStatus {
  readonly operation: string;
  /** `running`: until `until` at the latest. `unknown`: never heard of it, or forgotten. */
  readonly status: 'unknown' | 'running' | 'completed' | 'rejected' | 'released' | 'in-doubt';
  readonly until?: string;
  /** When it was completed, rejected or released. */
  readonly at?: string;
  /** What the handler called the thing. */
  readonly reference?: string;
  readonly originalStatus?: number;
  readonly answer?: unknown;
}

const style = { docsUrl: undefined, mismatchStatus: 422 };

/**
 * "Did operation X happen?" A GET handler for API Gateway v1 and v2, function URLs and ALB. It reads strongly, writes nothing and
 * leaks nothing across scopes: another scope's key is unknown. Answers 200 with the status, 404 where it is unknown, 400 without a
 * key or reference, 503 when the store cannot be read.
 *
 * @throws IdempotencyError `options` at construction
 */
export function statusHandler<Event = object>(
  options: StatusOptions<Event>,
): (event: Event) => Promise<HttpAnswer> {
  const rules = {
    store: isStore,
    operation: isText,
    scope: isScope,
    key: isFunction,
    unique: isFunction,
    showAnswer: isFunction,
  };
  checkOptions('statusHandler', options, rules, ['store', 'operation', 'scope']);
  return async (event) => {
    const sent = readHttp(event);
    const inMultiValues = sent?.answersInMultiValues ?? false;
    try {
      const status = await statusOf(options, event);
      return answer(status, inMultiValues);
    } catch (error) {
      if (!isIdempotencyError(error)) throw error;
      return problem(error, style, inMultiValues);
    }
  };
}

async function statusOf<Event>(options: StatusOptions<Event>, event: Event): Promise<OperationStatus> {
  const { store, operation, showAnswer } = options;
  const scope = options.scope === 'none' ? 'none' : requireScope(await options.scope(event));
  const key = keyOf(options, event);
  const parts = options.unique?.(event);
  if (key === undefined && parts === undefined) {
    throw new IdempotencyError(
      'key-missing',
      'The request names neither an idempotency key nor a business reference.',
    );
  }
  const withOutcome = (await showAnswer?.(event)) === true && wantsAnswer(event);
  const found = key === undefined ? undefined : await store.lookup({ operation, scope, key, withOutcome });
  const unique = parts === undefined ? undefined : await uniqueOf(options, scope, parts);
  return describe(operation, found, unique);
}

async function uniqueOf<Event>(
  { store, operation }: StatusOptions<Event>,
  scope: string,
  parts: readonly string[],
): Promise<Unique | undefined> {
  const unique = await store.unique(uniqueId(scope, parts), { budget: 5000 });
  // another operation's reference says nothing about this one
  return unique?.operation === operation ? unique : undefined;
}

function keyOf<Event>({ key }: StatusOptions<Event>, event: Event): string | undefined {
  if (key !== undefined) return key(event) ?? undefined;
  const sent = readHttp(event);
  const header = sent?.header('idempotency-key') ?? [];
  const named = sent?.query.filter(([name]) => name === 'key').map(([, value]) => value) ?? [];
  return parseKey('Idempotency-Key', header.length > 0 ? header : named);
}

function wantsAnswer(event: unknown): boolean {
  return readHttp(event)?.query.some(([name, value]) => name === 'answer' && value === 'true') ?? false;
}

const shown: Record<Lookup['state'], OperationStatus['status']> = {
  claimed: 'running',
  lapsed: 'in-doubt',
  'in-doubt': 'in-doubt',
  completed: 'completed',
  rejected: 'rejected',
  released: 'released',
};

function describe(operation: string, found: Lookup | undefined, unique: Unique | undefined): OperationStatus {
  const summary = {
    ...(unique?.reference !== undefined && { reference: unique.reference }),
    ...(unique?.status !== undefined && { originalStatus: unique.status }),
  };
  if (found === undefined) {
    if (unique === undefined) return { operation, status: 'unknown' };
    return { operation, status: 'completed', at: new Date(unique.createdAt).toISOString(), ...summary };
  }
  const status = shown[found.state];
  return {
    operation,
    status,
    ...(status === 'running' && { until: found.leaseUntil.toISOString() }),
    ...(found.endedAt !== undefined && { at: found.endedAt.toISOString() }),
    ...summary,
    ...(found.outcome !== undefined && { answer: answerOf(found.outcome) }),
  };
}

function answerOf(outcome: NonNullable<Lookup['outcome']>): unknown {
  if (outcome.kind === 'value') return outcome.value;
  return outcome.kind === 'rejection' ? outcome.rejection : null;
}

function answer(status: OperationStatus, inMultiValues: boolean): HttpAnswer {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    ...(status.status === 'running' && { 'Retry-After': '1' }),
  };
  const all = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  return {
    statusCode: status.status === 'unknown' ? 404 : 200,
    ...(inMultiValues ? { multiValueHeaders: all } : { headers }),
    body: JSON.stringify(status),
  };
}
