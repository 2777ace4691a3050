import type { BatchResponse, IdempotencyError, SqsOptions, SqsRecordLike } from '../../../src/index.ts';
import { bodyKey, idempotentSqs } from '../../../src/index.ts';
import { type World, world } from '../../middleware/support/world.ts';
import { contextWith } from '../../support/http.ts';

/** A message of a standard queue. */
export function message(messageId: string, body: unknown, parts: Partial<SqsRecordLike> = {}): SqsRecordLike {
  return { messageId, body: typeof body === 'string' ? body : JSON.stringify(body), ...parts };
}

/** A message of a FIFO queue. */
export function inGroup(group: string | undefined, messageId: string, body: unknown): SqsRecordLike {
  const attributes = group === undefined ? {} : { MessageGroupId: group };
  return message(messageId, body, { eventSourceARN: 'arn:aws:sqs:eu-central-1:0:orders.fifo', attributes });
}

/** What the response names. */
export function failing({ batchItemFailures }: BatchResponse): string[] {
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/** A batch in, the failed message ids out. */
export type Send = (records: readonly SqsRecordLike[], context?: object) => Promise<string[]>;

/** A queue's consumer in a world of its own. */
export interface Consumer extends World {
  /** Message ids, in the order in which their handler was called. */
  readonly ran: string[];
  /** What `onRecordFailure` was told: message id and code or message. */
  readonly reasons: [messageId: string, reason: string][];
  readonly send: Send;
}

/** What a handler of a test does with a record, after it was noted in `ran`. */
export type Work = (record: SqsRecordLike, context: object) => unknown;

export type Options = Partial<SqsOptions<SqsRecordLike, object, unknown>>;

/** `idempotentSqs` with the business key `id`. */
export function consumer(work: Work = () => undefined, options: Options = {}): Consumer {
  const all = world();
  const ran: string[] = [];
  const reasons: Consumer['reasons'] = [];
  const consume = idempotentSqs<SqsRecordLike, object>(
    async (record, context) => {
      ran.push(record.messageId);
      return work(record, context);
    },
    {
      store: all.store,
      operation: 'ship-order',
      key: bodyKey('id'),
      observe: all.observe,
      onRecordFailure: (error, { messageId }) => void reasons.push([messageId, reasonOf(error)]),
      ...options,
    },
  );
  const send: Send = async (records, context = contextWith()) =>
    failing(await consume({ Records: records }, context));
  return { ...all, ran, reasons, send };
}

/** The code of a refusal of ours, the name of what was never begun, the message of any other error. */
export function reasonOf(error: unknown): string {
  const { name, code, message: text } = error as IdempotencyError;
  if (name === 'NotAttempted') return name;
  return name === 'IdempotencyError' ? code : text;
}

/** Work that fails for these messages. */
export const failsFor =
  (...messageIds: string[]): Work =>
  ({ messageId }) => {
    if (messageIds.includes(messageId)) throw new Error(`${messageId} failed`);
  };
