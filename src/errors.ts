/** What went wrong, as a closed union. Decide by `code`, never by `instanceof`: a bundle may load the class twice. */
export type ErrorCode =
  | 'key-missing'
  | 'key-invalid'
  | 'key-reused'
  | 'busy'
  | 'in-doubt'
  | 'lease-lost'
  | 'input-invalid'
  | 'outcome-not-kept'
  | 'already-applied'
  | 'options'
  | 'store'
  | 'reentrant';

/**
 * One HTTP answer per code. `outcome-not-kept` is 410 and not 409, because draft-aware clients retry a 409. `detail`
 * takes the message's place where that is written for operators: it names tables, permissions and options.
 */
const answers: Record<ErrorCode, { status: number; title: string; detail?: string }> = {
  'key-missing': { status: 400, title: 'The idempotency key is missing' },
  'key-invalid': { status: 400, title: 'The idempotency key is malformed' },
  'key-reused': { status: 422, title: 'The idempotency key was used for another request' },
  busy: { status: 409, title: 'The same request is still running' },
  'in-doubt': { status: 409, title: 'It is not known whether the first request took effect' },
  'lease-lost': { status: 503, title: 'No claim could be held on this request' },
  'input-invalid': { status: 400, title: 'The request cannot be identified' },
  'outcome-not-kept': { status: 410, title: 'The request was done, its answer was not kept' },
  'already-applied': { status: 409, title: 'The request was applied before' },
  options: { status: 500, title: 'The service is misconfigured', detail: 'Nothing was done.' },
  store: {
    status: 503,
    title: 'The idempotency store is unavailable',
    detail: 'Nothing was done. Try again with the same key.',
  },
  reentrant: { status: 500, title: 'The operation called itself with the same key' },
};

/** What an {@link IdempotencyError} may carry beside its code and message. */
export interface ErrorDetail {
  /** Whole seconds after which a retry makes sense. */
  readonly retryAfter?: number;
  /** The record's id, which names the operation and a digest: never the key, never the payload. */
  readonly id?: string;
  /** Status of the first answer, where it is known and the answer itself was not kept. */
  readonly originalStatus?: number;
  /** What the handler that did it called the thing. */
  readonly reference?: string;
  /** When it was done, as ISO 8601. */
  readonly appliedAt?: string;
  readonly cause?: unknown;
}

/**
 * The one error class. It carries an HTTP status under both names that frameworks read (`status`, `statusCode`), and
 * never a raw key, a scope or a payload, so it can be logged as it is.
 */
export class IdempotencyError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly statusCode: number;
  readonly title: string;
  /** Read by http-errors style handlers: whether the message may be shown to the caller. */
  readonly expose: boolean;
  /** What an HTTP caller is told. */
  readonly detail: string;
  readonly retryAfter?: number;
  readonly id?: string;
  readonly originalStatus?: number;
  readonly reference?: string;
  readonly appliedAt?: string;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'IdempotencyError';
    this.code = code;
    this.status = answers[code].status;
    this.statusCode = this.status;
    this.title = answers[code].title;
    this.expose = this.status < 500;
    this.detail = answers[code].detail ?? message;
    if (detail.retryAfter !== undefined) this.retryAfter = detail.retryAfter;
    if (detail.id !== undefined) this.id = detail.id;
    if (detail.originalStatus !== undefined) this.originalStatus = detail.originalStatus;
    if (detail.reference !== undefined) this.reference = detail.reference;
    if (detail.appliedAt !== undefined) this.appliedAt = detail.appliedAt;
  }
}

/** True for our error, whichever copy of the package made it. */
export function isIdempotencyError(error: unknown): error is IdempotencyError {
  return error instanceof Error && error.name === 'IdempotencyError' && 'code' in error;
}

/**
 * A condition of the caller's own failed in a commit: nothing was written, the claim is as it was, and another commit may follow.
 * Decide by `name`, never by `instanceof`.
 */
export class CommitRefused extends Error {
  /** Which of the writes. */
  readonly index: number;
  /** DynamoDB's code, such as `ConditionalCheckFailed`. */
  readonly reason: string;
  /** The item that stood in the way, where the write asked for it (`ReturnValuesOnConditionCheckFailure: 'ALL_OLD'`). */
  readonly item: Readonly<Record<string, unknown>> | undefined;

  constructor(index: number, reason: string, item: Readonly<Record<string, unknown>> | undefined) {
    super(`commit: writes[${index}] was refused: ${reason}. Nothing was written.`);
    this.name = 'CommitRefused';
    this.index = index;
    this.reason = reason;
    this.item = item;
    // an item is the user's data: for the handler to look at, not for a log
    Object.defineProperty(this, 'item', { enumerable: false });
  }
}

/** True for a {@link CommitRefused}, whichever copy of the package made it. */
export function isCommitRefused(error: unknown): error is CommitRefused {
  return error instanceof Error && error.name === 'CommitRefused' && 'index' in error;
}
