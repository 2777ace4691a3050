import { type Mock, vi } from 'vitest';
import {
  type BatchResponse,
  bodyKey,
  type SqsOptions,
  type SqsRecordLike,
  sqsIdempotency,
} from '../../src/index.ts';
import { failing, reasonOf } from '../adapters/batch/support.ts';
import { contextWith } from '../support/http.ts';
import type { Chain, Kit } from './support/middy.ts';
import { type World, world } from './support/world.ts';

/** What a handler of a test is given, and what it may answer. */
export type BatchHandler = (records: readonly SqsRecordLike[], context: object) => unknown;

/** A chain with `sqsIdempotency`, in a world of its own. */
export interface Drained extends World {
  readonly chain: Chain;
  /** Called with the ids that were handed over. */
  readonly handed: Mock<(ids: string[]) => void>;
  readonly reasons: [messageId: string, reason: string][];
  /** A batch in, the failed message ids out. */
  readonly send: (records: readonly SqsRecordLike[], context?: object) => Promise<string[]>;
}

export interface Around {
  readonly options?: Partial<SqsOptions<SqsRecordLike, object, unknown>>;
  readonly above?: object;
  readonly below?: object;
  readonly plugin?: object;
}

/** An existing handler behind ours, with the business key `id`. */
export function drained(kit: Kit, work: BatchHandler = () => undefined, around: Around = {}): Drained {
  const all = world();
  const handed = vi.fn<(ids: string[]) => void>();
  const reasons: Drained['reasons'] = [];
  const ours = sqsIdempotency<SqsRecordLike, object>({
    store: all.store,
    operation: 'ship-order',
    key: bodyKey('id'),
    observe: all.observe,
    onRecordFailure: (error, { messageId }) => void reasons.push([messageId, reasonOf(error)]),
    ...around.options,
  });
  const others = [around.above, ours, around.below].filter((each) => each !== undefined);
  const chain = kit.middy(around.plugin);
  for (const middleware of others) chain.use(middleware);
  chain.handler(async (event, context) => {
    const { Records } = event as unknown as { Records: SqsRecordLike[] };
    handed(Records.map(({ messageId }) => messageId));
    return work(Records, context);
  });
  const send: Drained['send'] = async (records, context = contextWith()) =>
    failing((await chain({ Records: records }, context)) as BatchResponse);
  return { ...all, chain, handed, reasons, send };
}

/** A response that names these. */
export const naming = (...ids: unknown[]): { batchItemFailures: { itemIdentifier: unknown }[] } => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});
