import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { idempotentSqs, type LambdaContext } from '../../../src/index.ts';
import { contextWith } from '../../support/http.ts';
import { freshTable } from '../../support/table.ts';
import { consumer, failing, message } from './support.ts';

const batch = (length: number) => Array.from({ length }, (_, id) => message(`m${id}`, { id }));
const left = (milliseconds: number) => ({ getRemainingTimeInMillis: () => milliseconds });

describe('Q08: the time that is left', () => {
  test('Q08: ten records of a second with five seconds left: four are done, the rest is not claimed', async () => {
    const all = consumer(() => all.skip(1001), { concurrency: 1 });
    expect(await all.send(batch(10), left(5000))).toEqual(['m4', 'm5', 'm6', 'm7', 'm8', 'm9']);
    expect(all.ran).toEqual(['m0', 'm1', 'm2', 'm3']);
    expect(all.records().map(({ state }) => state)).toEqual(Array(4).fill('completed'));
    expect(all.reasons).toEqual(['m4', 'm5', 'm6', 'm7', 'm8', 'm9'].map((id) => [id, 'NotAttempted']));
  });

  test('Q08: a lease ends with the invocation, whenever its record began', async () => {
    const ends: number[] = [];
    const all = consumer(
      () => {
        const { leaseUntil } = all.records().at(-1) ?? { leaseUntil: 0 };
        ends.push(leaseUntil - all.store.now());
        all.skip(2000);
      },
      { concurrency: 1 },
    );
    expect(await all.send(batch(3), left(10_000))).toEqual([]);
    for (const [record, expected] of [12_000, 10_000, 8000].entries()) {
      expect(Math.abs((ends[record] ?? 0) - expected), `record ${record}`).toBeLessThan(200);
    }
  });

  test('Q08: on the real engine nothing is left claimed, and the next invocation does the rest', async () => {
    const table = await freshTable();
    const { send, ran } = consumer(() => sleep(100), {
      store: table.store(),
      concurrency: 1,
      floor: { milliseconds: 50 },
    });
    const failed = await send(batch(10), contextWith(600));
    expect(failed.length).toBeGreaterThan(3);
    expect(ran.length).toBeGreaterThan(0);
    expect(ran.length + failed.length).toBe(10);
    const records = await table.records();
    expect(records.map(({ state }) => state)).toEqual(ran.map(() => 'completed'));
    expect(await send(batch(10).filter(({ messageId }) => failed.includes(messageId)))).toEqual([]);
    expect(new Set(ran).size).toBe(10);
    expect(ran).toHaveLength(10);
  });

  test('Q08: no record begins with less left than the slowest one took', async () => {
    const { send, ran } = consumer(() => sleep(ran.length === 1 ? 300 : 0), {
      concurrency: 1,
      floor: { milliseconds: 0 },
    });
    expect(await send(batch(3), contextWith(500))).toEqual(['m1', 'm2']);
    expect(ran).toEqual(['m0']);
  });

  test('Q08: the floor is one second, or what the option says', async () => {
    expect(await consumer().send(batch(2), left(999))).toEqual(['m0', 'm1']);
    expect(await consumer().send(batch(2), left(1500))).toEqual([]);
    expect(await consumer(undefined, { floor: { seconds: 2 } }).send(batch(2), left(1500))).toHaveLength(2);
    expect(await consumer(undefined, { floor: { milliseconds: 30 } }).send(batch(2), left(100))).toEqual([]);
  });

  test.each([
    ['none at all', undefined],
    ['one without a clock', {}],
    ['one whose clock is broken', left(Number.NaN)],
  ])('Q08: without a Lambda context (%s) a lease is fifteen minutes and a grace', async (_name, context) => {
    const leases: number[] = [];
    const all = consumer();
    const consume = idempotentSqs(
      async () => {
        const { leaseUntil } = all.records()[0] ?? { leaseUntil: 0 };
        leases.push(leaseUntil - all.store.now());
      },
      { store: all.store, operation: 'ship', key: ({ messageId }) => messageId },
    );
    expect(failing(await consume({ Records: batch(1) }, context as LambdaContext))).toEqual([]);
    expect(Math.abs((leases[0] ?? 0) - 902_000)).toBeLessThan(200);
  });
});

describe('how many at once', () => {
  test.each([
    [1, 1],
    [4, 4],
    [undefined, 10],
    [1000, 30],
  ])('concurrency %s: %d in flight, never more, and they are reached', async (concurrency, expected) => {
    let [inFlight, most] = [0, 0];
    const { send, ran } = consumer(
      async () => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await sleep(5);
        inFlight -= 1;
      },
      concurrency === undefined ? {} : { concurrency },
    );
    expect(await send(batch(30))).toEqual([]);
    expect(most).toBe(expected);
    expect(ran).toEqual(batch(30).map(({ messageId }) => messageId));
  });

  test('no more claims are live at once either: a record waits unclaimed', async () => {
    const live: number[] = [];
    const all = consumer(
      async () => {
        live.push(all.records().filter(({ state }) => state === 'claimed').length);
        await sleep(2);
      },
      { concurrency: 3 },
    );
    await all.send(batch(12));
    expect(Math.max(...live)).toBe(3);
  });

  test('one at a time means in the order of the batch, also around records of one key', async () => {
    const { send, ran } = consumer(
      ({ messageId }) => {
        if (messageId === 'm0') throw new Error('again');
      },
      { concurrency: 1 },
    );
    const twins = [message('m0', { id: 0 }), message('m1', { id: 1 }), message('m2', { id: 0 })];
    expect(await send(twins)).toEqual(['m0']);
    expect(ran).toEqual(['m0', 'm1', 'm2']);
  });
});
