import type { BodySelection } from '../../domain/fingerprint.ts';
import {
  either,
  isBodySelection,
  isBoolean,
  isFalse,
  isFunction,
  isLike,
  isScope,
  isText,
  isTextList,
  isWord,
  oneOf,
  type Rule,
} from '../../domain/options.ts';
import { defineOperation, type Operation } from '../../engine/operation.ts';
import type { OperationOptions } from '../../engine/options.ts';
import type { Yielded } from '../identity.ts';
import type { AnswerStyle } from './answer.ts';
import { deniedBy, withoutDenied } from './headers.ts';

/** What of a request must be the same under one key. */
export type HttpFingerprint<Event> = false | BodySelection | ((event: Event) => unknown);

/** Options of `idempotentHttp` and of the Middy middleware `idempotency`. */
export interface HttpOptions<Event, Context, Result> extends OperationOptions<Result> {
  /**
   * Whose keys these are: the tenant or account, from the authorizer and never from a header that the caller writes.
   * Keys are not secret: without a scope one caller could get another one's answer. `'none'` says that there is none.
   * Yielding nothing is an error and not a shared bucket.
   */
  readonly scope: 'none' | ((event: Event, context: Context) => Yielded | Promise<Yielded>);
  /** The key, where it is not in a header. Default: the header. Not limited to 255 characters. */
  readonly key?:
    | ((event: Event, context: Context) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** Header that carries the key, in any case. Default `Idempotency-Key`. */
  readonly header?: string | undefined;
  /** Methods that are protected; others pass without a store call. Default by `preset`. */
  readonly methods?: readonly string[] | undefined;
  /** Whether a protected method without a key is refused (400) or runs unprotected. Default by `preset`. */
  readonly required?: boolean | undefined;
  /**
   * What must be the same under one key beside method, path and query. Default: the whole body.
   * `{ body: ['amount', 'customer.id'], lowercase: ['customer.email'] }` is an explicit allow-list of JSON members; a
   * function yields the meaning itself, in place of everything else; `false` switches the check off.
   */
  readonly fingerprint?: HttpFingerprint<Event> | undefined;
  /**
   * Where nothing else is said: `'ietf'` (default) follows the draft: POST and PATCH, key required, replays marked
   * `Idempotency-Replayed`, 422 for a reused key. `'stripe'`: POST, key optional, `Idempotent-Replayed`, 400.
   */
  readonly preset?: 'ietf' | 'stripe' | undefined;
  /** Header that marks a replay. Browsers see it only if CORS exposes it. Default by `preset`. */
  readonly replayedHeader?: string | undefined;
  /** Status for a reused key: 422, 409 or 400. Default by `preset`. */
  readonly mismatchStatus?: 422 | 409 | 400 | undefined;
  /** Headers of the first answer that are neither stored nor replayed. Default {@link defaultDeniedHeaders}. */
  readonly denyHeaders?: readonly string[] | undefined;
  /** Page about your API's answers: becomes the problem's `type` and a `Link` header. */
  readonly docsUrl?: string | undefined;
}

/**
 * Headers that belong to one exchange: sessions and challenges, the connection, clocks, request ids, rate limits. An
 * entry that ends in `*` stands for all names that begin so.
 */
export const defaultDeniedHeaders: readonly string[] = [
  'Set-Cookie',
  'WWW-Authenticate',
  'Proxy-Authenticate',
  'Authentication-Info',
  'Connection',
  'Keep-Alive',
  'Transfer-Encoding',
  'Trailer',
  'Upgrade',
  'Date',
  'X-Request-Id',
  'X-Correlation-Id',
  'X-Amzn-RequestId',
  'X-Amzn-Trace-Id',
  'X-Amz-Apigw-Id',
  'X-RateLimit-*',
  'RateLimit*',
];

const presets = {
  ietf: {
    methods: ['POST', 'PATCH'],
    required: true,
    replayedHeader: 'Idempotency-Replayed',
    mismatchStatus: 422,
  },
  stripe: { methods: ['POST'], required: false, replayedHeader: 'Idempotent-Replayed', mismatchStatus: 400 },
};

/** Checked HTTP options. */
export interface HttpOperation<Event, Context> extends AnswerStyle {
  readonly operation: Operation;
  readonly scope: HttpOptions<Event, Context, unknown>['scope'];
  readonly key: HttpOptions<Event, Context, unknown>['key'];
  readonly header: string;
  readonly methods: ReadonlySet<string>;
  readonly required: boolean;
  readonly fingerprint: HttpFingerprint<Event>;
}

const isHeaderName = isLike('a header name', /^[!#$%&'*+.^_`|~\w-]+$/);
const isMethod = isLike('an upper-case HTTP method', /^[A-Z]+$/);

const rules: Record<Exclude<keyof HttpOptions<never, never, never>, keyof OperationOptions<never>>, Rule> = {
  scope: isScope,
  key: isFunction,
  header: isHeaderName,
  methods: oneOf(
    'a list of at least one upper-case HTTP method',
    (value) => Array.isArray(value) && value.length > 0 && value.every((method) => isMethod.test(method)),
  ),
  required: isBoolean,
  fingerprint: either(isFalse, isBodySelection, isFunction),
  preset: isWord('ietf', 'stripe'),
  replayedHeader: isHeaderName,
  mismatchStatus: oneOf('422, 409 or 400', (value) => value === 422 || value === 409 || value === 400),
  denyHeaders: isTextList,
  docsUrl: oneOf('an absolute URL', (value) => isText.test(value) && URL.canParse(value as string)),
};

/**
 * Checks the options of an HTTP adapter and fills in the preset.
 *
 * @throws IdempotencyError `options`
 */
export function defineHttpOperation<Event, Context, Result>(
  adapter: string,
  options: HttpOptions<Event, Context, Result>,
): HttpOperation<Event, Context> {
  const operation = defineOperation(adapter, options, rules, ['scope'], (result) =>
    withoutDenied(result, isDenied),
  );
  const isDenied = deniedBy(options.denyHeaders ?? defaultDeniedHeaders);
  const preset = presets[options.preset ?? 'ietf'];
  return {
    operation,
    scope: options.scope,
    key: options.key,
    header: options.header ?? 'Idempotency-Key',
    methods: new Set(options.methods ?? preset.methods),
    required: options.required ?? preset.required,
    fingerprint: options.fingerprint ?? {},
    replayedHeader: options.replayedHeader ?? preset.replayedHeader,
    style: { docsUrl: options.docsUrl, mismatchStatus: options.mismatchStatus ?? preset.mismatchStatus },
  };
}
