import {
  BatchProcessor,
  EventType,
  processPartialResponse,
  processPartialResponseSync,
  SqsFifoPartialProcessor,
  SqsFifoPartialProcessorAsync,
} from '@aws-lambda-powertools/batch';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import sqsPartialBatchFailure from 'middy6-sqs-partial-batch-failure';
import { afterEach, describe, expect, test } from 'vitest';
import { claimOf, type SqsRecordLike } from '../../src/index.ts';
import { inGroup, message } from '../adapters/batch/support.ts';
import { type BatchHandler, drained } from './sqs-support.ts';
import { type Hooks, kits } from './support/middy.ts';

const broken = new Set<string>();
const ran: string[] = [];
const work = ({ messageId }: { messageId: string }): void => {
  if (broken.has(messageId)) throw new Error(`${messageId} failed`);
  ran.push(messageId);
};
const asEvent = (records: readonly SqsRecordLike[]): SQSEvent => ({ Records: [...records] as SQSRecord[] });
const batch = () => [1, 2, 3].map((id) => message(`m${id}`, { id }));

afterEach(() => {
  broken.clear();
  ran.length = 0;
});

describe.each(kits)('Powertools BatchProcessor, Middy $version', (kit) => {
  /** One processor for all invocations, as its documentation shows it. */
  const powertools = (options: object = {}): BatchHandler => {
    const processor = new BatchProcessor(EventType.SQS);
    return (records) =>
      processPartialResponse(asEvent(records), async (record: SQSRecord) => work(record), processor, options);
  };

  test('partial failures: only those come again', async () => {
    const { send, handed, records } = drained(kit, powertools());
    broken.add('m2');
    expect(await send(batch())).toEqual(['m2']);
    expect(records().map(({ state }) => state)).toEqual(['completed', 'released', 'completed']);
    broken.clear();
    expect(await send(batch())).toEqual([]);
    expect(handed.mock.calls).toEqual([[['m1', 'm2', 'm3']], [['m2']]]);
    expect(ran).toEqual(['m1', 'm3', 'm2']);
  });

  test('a warm processor carries nothing over', async () => {
    const { send } = drained(kit, powertools());
    broken.add('m1');
    expect(await send(batch())).toEqual(['m1']);
    expect(await send([message('m4', { id: 4 })])).toEqual([]);
  });

  test('all failed: FullBatchFailureError goes on to Lambda, and the records are free', async () => {
    const { send, records, handed } = drained(kit, powertools());
    for (const { messageId } of batch()) broken.add(messageId);
    await expect(send(batch())).rejects.toMatchObject({ name: 'FullBatchFailureError' });
    expect(records().map(({ state }) => state)).toEqual(Array(3).fill('released'));
    broken.clear();
    expect(await send(batch())).toEqual([]);
    expect(handed).toHaveBeenCalledTimes(2);
  });

  test('all that were left failed: what was done before replays when the whole batch comes again', async () => {
    const { send } = drained(kit, powertools());
    broken.add('m2');
    expect(await send(batch())).toEqual(['m2']);
    await expect(send(batch())).rejects.toMatchObject({ name: 'FullBatchFailureError' });
    broken.clear();
    expect(await send(batch())).toEqual([]);
    expect(ran).toEqual(['m1', 'm3', 'm2']);
  });

  test('all failed with throwOnFullBatchFailure false: all are named', async () => {
    const { send, records } = drained(kit, powertools({ throwOnFullBatchFailure: false }));
    for (const { messageId } of batch()) broken.add(messageId);
    expect(await send(batch())).toEqual(['m1', 'm2', 'm3']);
    expect(records().map(({ state }) => state)).toEqual(Array(3).fill('released'));
  });

  test('its record handler finds its claim', async () => {
    const keys: string[] = [];
    const processor = new BatchProcessor(EventType.SQS);
    const { send } = drained(kit, (records) =>
      processPartialResponse(
        asEvent(records),
        async (record: SQSRecord) => void keys.push(claimOf(record).key),
        processor,
      ),
    );
    await send(batch());
    expect(keys).toEqual(['1', '2', '3']);
  });
});

describe.each(kits)('Powertools SqsFifoPartialProcessor, Middy $version', (kit) => {
  const processors: [string, () => BatchHandler][] = [
    [
      'in sequence',
      () => {
        const processor = new SqsFifoPartialProcessor();
        return (records) =>
          processPartialResponseSync(asEvent(records), work, processor, { skipGroupOnError: true });
      },
    ],
    [
      'asynchronous',
      () => {
        const processor = new SqsFifoPartialProcessorAsync();
        return (records) =>
          processPartialResponse(asEvent(records), async (record: SQSRecord) => work(record), processor, {
            skipGroupOnError: true,
          });
      },
    ],
  ];
  test.each(processors)(
    'Q03: %s: a failure stops its group; the next invocation goes on',
    async (_name, make) => {
      const group = ['a', 'b', 'c'].map((id) => inGroup('g1', id, { id }));
      const d = inGroup('g2', 'd', { id: 'd' });
      const { send, records } = drained(kit, make());
      broken.add('b');
      expect(await send([...group, d])).toEqual(['b', 'c']);
      expect(ran).toEqual(['a', 'd']);
      expect(
        records()
          .map(({ state }) => state)
          .sort(),
      ).toEqual(['completed', 'completed', 'released', 'released']);
      broken.clear();
      expect(await send(group.slice(1))).toEqual([]);
      expect(ran).toEqual(['a', 'd', 'b', 'c']);
    },
  );
});

describe.each(kits)(
  'sqs-partial-batch-failure of Middy 6 below ours, in a chain of Middy $version',
  (kit) => {
    const below = () => sqsPartialBatchFailure({ logger: () => {} }) as object;
    const settled: BatchHandler = (records) =>
      Promise.allSettled(records.map(async (record) => work(record)));

    test('it makes the list of those that were handed over, ours merges', async () => {
      const { send, handed, records } = drained(kit, settled, { below: below() });
      broken.add('m2');
      expect(await send([...batch(), message('m4', {})])).toEqual(['m2', 'm4']);
      expect(records().map(({ state }) => state)).toEqual(['completed', 'released', 'completed']);
      broken.clear();
      expect(await send(batch())).toEqual([]);
      expect(handed.mock.calls).toEqual([[['m1', 'm2', 'm3']], [['m2']]]);
    });

    test('it answers for a handler that throws; what was refused before is named all the same', async () => {
      const { send, records } = drained(kit, () => Promise.reject(new Error('no')), { below: below() });
      expect(await send([...batch(), message('m4', {})])).toEqual(['m1', 'm2', 'm3', 'm4']);
      expect(records().map(({ state }) => state)).toEqual(Array(3).fill('released'));
    });

    test('an answer that it cannot read holds', async () => {
      const { send, records } = drained(kit, () => [{ status: 'fulfilled' }], { below: below() });
      expect(await send(batch())).toEqual(['m1', 'm2', 'm3']);
      expect(records().map(({ state }) => state)).toEqual(Array(3).fill('claimed'));
    });

    test('it answers for a failure above ours; what was refused before is named all the same', async () => {
      const above: Hooks = { after: () => Promise.reject(new Error('metrics are down')) };
      const { send, records } = drained(kit, settled, { below: below(), above });
      broken.add('m1');
      expect(await send([...batch(), message('m4', {})])).toEqual(['m1', 'm4']);
      expect(records().map(({ state }) => state)).toEqual(['released', 'completed', 'completed']);
    });

    test('an early timeout that it answers for holds', async () => {
      const { send, records } = drained(kit, () => new Promise(() => {}), {
        below: below(),
        plugin: { timeoutEarlyInMillis: 600 },
        options: { floor: { milliseconds: 0 } },
      });
      const ends = Date.now() + 650;
      expect(await send(batch(), { getRemainingTimeInMillis: () => ends - Date.now() })).toEqual([
        'm1',
        'm2',
        'm3',
      ]);
      expect(records().map(({ state }) => state)).toEqual(Array(3).fill('claimed'));
    });
  },
);
