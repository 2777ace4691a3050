import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  bodyKey,
  type DynamoRecordLike,
  idempotentStream,
  imageKey,
  type KinesisRecordLike,
  type StreamOptions,
  type StreamRecordLike,
} from '../../../src/index.ts';
import { type World, world } from '../../middleware/support/world.ts';
import { contextWith } from '../../support/http.ts';
import { freshTable } from '../../support/table.ts';
import { failing, reasonOf } from './support.ts';

type Options = Partial<StreamOptions<StreamRecordLike, object, unknown>>;

interface Tail extends World {
  readonly ran: string[];
  readonly reasons: string[];
  readonly send: (records: readonly StreamRecordLike[], context?: object) => Promise<string[]>;
}

const numberOf = (record: StreamRecordLike): string =>
  ('kinesis' in record ? record.kinesis.sequenceNumber : record.dynamodb?.SequenceNumber) ?? '';

/** A stream's consumer. */
function tail(key: object, work: (number: string) => unknown = () => undefined, options: Options = {}): Tail {
  const all = world();
  const [ran, reasons]: string[][] = [[], []];
  const consume = idempotentStream<StreamRecordLike, object>(
    async (record) => {
      ran?.push(numberOf(record));
      return work(numberOf(record));
    },
    {
      store: all.store,
      operation: 'project',
      key: key as never,
      observe: all.observe,
      onRecordFailure: (error) => void reasons?.push(reasonOf(error)),
      ...options,
    },
  );
  const send: Tail['send'] = async (records, context = contextWith()) =>
    failing(await consume({ Records: records }, context));
  return { ...all, ran: ran ?? [], reasons: reasons ?? [], send };
}

const failsFor = (broken: ReadonlySet<string>) => (number: string) => {
  if (broken.has(number)) throw new Error(`${number} failed`);
};

const kinesis = (sequenceNumber: string, data: unknown, partitionKey = 'p'): KinesisRecordLike => ({
  kinesis: {
    sequenceNumber,
    partitionKey,
    data: Buffer.from(data instanceof Uint8Array ? data : JSON.stringify(data)).toString('base64'),
  },
});

const change = (
  SequenceNumber: string,
  id: string,
  version: number,
  eventName = 'MODIFY',
): DynamoRecordLike => {
  const image = { id: { S: id }, version: { N: String(version) } };
  return {
    eventName,
    dynamodb: {
      SequenceNumber,
      Keys: { id: { S: id } },
      ...(eventName === 'REMOVE' ? { OldImage: image } : { NewImage: image }),
    },
  };
};

const numbers = ['101', '102', '103', '104'];
const kinds: [string, object, (number: string, place: string) => StreamRecordLike][] = [
  ['Kinesis', bodyKey('id'), (number, place) => kinesis(number, { id: number }, place)],
  ['DynamoDB', imageKey('id', 'version'), (number, place) => change(number, place, Number(number))],
];

describe.each(kinds)('idempotentStream of %s', (_name, key, record) => {
  test('the lowest failed number is the checkpoint; what is done behind it replays, on the real engine', async () => {
    const broken = new Set(['102', '103']);
    const table = await freshTable();
    const { send, ran } = tail(key, failsFor(broken), { store: table.store() });
    const batch = numbers.map((number) => record(number, `p${number}`));
    expect(await send(batch)).toEqual(['102']);
    expect(ran).toEqual(numbers);
    broken.clear();
    ran.length = 0;
    expect(await send(batch.slice(1))).toEqual([]);
    expect(ran).toEqual(['102', '103']);
    expect((await table.records()).map(({ state }) => state)).toEqual(Array(4).fill('completed'));
  });

  test('behind a failure of its own partition nothing runs, others go on', async () => {
    const { send, ran, reasons, records } = tail(key, failsFor(new Set(['101'])));
    const batch = [record('101', 'p'), record('102', 'q'), record('103', 'p'), record('104', 'q')];
    expect(await send(batch)).toEqual(['101']);
    expect(ran).toEqual(['101', '102', '104']);
    expect(reasons.toSorted()).toEqual(['101 failed', 'NotAttempted']);
    expect(records()).toHaveLength(3);
  });

  test('one at a time and in the order of the shard, unless concurrency says otherwise', async () => {
    const batch = [record('101', 'p'), record('102', 'q'), record('103', 'p'), record('104', 'q')];
    const inOrder = tail(key, () => sleep(2));
    expect(await inOrder.send(batch)).toEqual([]);
    expect(inOrder.ran).toEqual(numbers);
    const log: string[] = [];
    const sideBySide = tail(
      key,
      async (number) => {
        log.push(`+${number}`);
        await sleep(15);
        log.push(`-${number}`);
      },
      { concurrency: 4 },
    );
    expect(await sideBySide.send(batch)).toEqual([]);
    expect(log.slice(0, 2)).toEqual(['+101', '+102']);
    expect(log.indexOf('+103')).toBeGreaterThan(log.indexOf('-101'));
  });

  test('a shard that is read again from its last checkpoint runs nothing', async () => {
    const { send, ran } = tail(key);
    const batch = numbers.map((number) => record(number, 'p'));
    for (let time = 0; time < 3; time += 1) expect(await send(batch)).toEqual([]);
    expect(ran).toEqual(numbers);
  });

  test('the checkpoint lies before what there was no time for', async () => {
    const all = tail(key, () => all.skip(1000));
    const batch = numbers.map((number) => record(number, `p${number}`));
    expect(await all.send(batch, { getRemainingTimeInMillis: () => 2900 })).toEqual(['103']);
    expect(all.ran).toEqual(['101', '102']);
    expect(all.records().map(({ state }) => state)).toEqual(['completed', 'completed']);
  });

  test('onFailures throw', async () => {
    const { send } = tail(key, failsFor(new Set(['101'])), { onFailures: 'throw' });
    await expect(send([record('101', 'p')])).rejects.toThrow('failed');
  });

  test('an empty batch has no failures; one without numbers, or of another source, is refused whole', async () => {
    const { send, ran, calls } = tail(key);
    expect(await send([])).toEqual([]);
    const strange = [record('', 'p'), {}, { dynamodb: {} }, { messageId: 'm', body: '{}' }, null];
    for (const bad of strange) {
      await expect(send([record('101', 'p'), bad as never])).rejects.toMatchObject({ code: 'input-invalid' });
    }
    await expect(send(undefined as never)).rejects.toMatchObject({ code: 'input-invalid' });
    expect([ran, calls]).toEqual([[], []]);
  });
});

describe('Kinesis', () => {
  test('one business key in two partitions: the second comes after the first, whatever the concurrency', async () => {
    const { send, ran } = tail(bodyKey('id'), () => sleep(20), { concurrency: 10, wait: { seconds: 10 } });
    expect(await send([kinesis('1', { id: 'a' }, 'p'), kinesis('2', { id: 'a' }, 'q')])).toEqual([]);
    expect(ran).toEqual(['1']);
  });

  test('data is compared as JSON by its meaning, as text, and as bytes where it is no text', async () => {
    const { send, ran, reasons } = tail(() => 'k', undefined, { operation: 'bytes' });
    await send([kinesis('1', Buffer.from([0xff, 0xfe, 0x01]))]);
    expect(await send([kinesis('2', Buffer.from([0xff, 0xfe, 0x01]))])).toEqual([]);
    expect(await send([kinesis('3', Buffer.from([0xff, 0xfd, 0x01]))])).toEqual(['3']);
    expect(ran).toEqual(['1']);
    expect(reasons).toEqual(['key-reused']);
  });
});

describe('DynamoDB streams', () => {
  test('a removal after the last version runs, and is no reused key', async () => {
    const { send, ran, reasons } = tail(imageKey('id', 'version'));
    const batch = [change('1', 'a', 1, 'INSERT'), change('2', 'a', 2), change('3', 'a', 2, 'REMOVE')];
    expect(await send(batch)).toEqual([]);
    expect(await send(batch)).toEqual([]);
    expect(ran).toEqual(['1', '2', '3']);
    expect(reasons).toEqual([]);
  });

  test('an item is one line, in whatever order its key attributes come', async () => {
    const { send, ran } = tail(imageKey('id'), failsFor(new Set(['1'])));
    const of = (SequenceNumber: string, Keys: Record<string, { S: string }>): DynamoRecordLike => ({
      eventName: 'INSERT',
      dynamodb: { SequenceNumber, Keys, NewImage: { id: { S: SequenceNumber } } },
    });
    const [p, s] = [{ S: 'p' }, { S: 's' }];
    expect(await send([of('1', { p, s }), of('2', { s, p }), of('3', { p, s: p })])).toEqual(['1']);
    expect(ran).toEqual(['1', '3']);
  });

  test('an allow-list chooses within the change; without one the images and the kind of change count', async () => {
    const write = (number: string, total: string, at: string): DynamoRecordLike => ({
      eventName: 'MODIFY',
      dynamodb: { SequenceNumber: number, NewImage: { id: { S: 'a' }, total: { N: total }, at: { S: at } } },
    });
    const strict = tail(imageKey('id'));
    await strict.send([write('1', '5', 'monday')]);
    expect(await strict.send([write('2', '5', 'tuesday')])).toEqual(['2']);
    expect(await strict.send([{ ...write('3', '5', 'monday'), eventName: 'INSERT' }])).toEqual(['3']);
    expect(strict.reasons).toEqual(['key-reused', 'key-reused']);
    const chosen = tail(imageKey('id'), undefined, { fingerprint: { body: ['NewImage.total'] } });
    await chosen.send([write('1', '5', 'monday')]);
    expect(await chosen.send([write('2', '5', 'tuesday')])).toEqual([]);
    expect(await chosen.send([write('3', '6', 'monday')])).toEqual(['3']);
  });
});
