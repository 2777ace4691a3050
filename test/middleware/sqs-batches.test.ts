import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bodyKey, claimOf, type SqsRecordLike, sqsIdempotency } from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';
import { inGroup, message } from '../adapters/batch/support.ts';
import { freshTable } from '../support/table.ts';
import { drained, naming } from './sqs-support.ts';
import { kits } from './support/middy.ts';
import { gate } from './support/world.ts';

/** Runs record by record and stops a group at its first failure, as a handler of a FIFO queue must. */
const stoppingAt =
  (...broken: string[]) =>
  (records: readonly SqsRecordLike[]) => {
    const stopped = new Set<string>();
    for (const { messageId, attributes } of records) {
      const group = attributes?.MessageGroupId ?? messageId;
      if (broken.includes(messageId) || stopped.has(group)) {
        stopped.add(group);
        failed.push(messageId);
      } else ran.push(messageId);
    }
    return naming(...failed.splice(0));
  };
const [ran, failed]: [string[], string[]] = [[], []];

describe.each(kits)('which records an existing handler is handed, Middy $version', (kit) => {
  afterEach(() => {
    vi.unstubAllEnvs();
    ran.length = 0;
  });

  test('what was done before is not handed over, and when all of it was, the handler is not called', async () => {
    const { send, handed, calls } = drained(kit);
    await send([message('m1', { id: 1 })]);
    expect(await send([message('m1b', { id: 1 }), message('m2', { id: 2 })])).toEqual([]);
    calls.length = 0;
    expect(await send([message('m1c', { id: 1 }), message('m2b', { id: 2 })])).toEqual([]);
    expect(handed.mock.calls).toEqual([[['m1']], [['m2']]]);
    expect(calls, 'a replay is one request').toEqual(['claim', 'claim']);
  });

  test('an empty batch does not reach the handler', async () => {
    const { send, handed } = drained(kit);
    expect(await send([])).toEqual([]);
    expect(handed).not.toHaveBeenCalled();
  });

  test('Q04: a record without an id fails the whole batch loudly, with nothing claimed', async () => {
    const { chain, handed, calls } = drained(kit);
    const odd = [{ Records: [message('m1', { id: 1 }), { body: '{"id":2}' }] }, { Records: null }, {}];
    for (const event of odd) {
      await expect(chain(event, {})).rejects.toMatchObject({ code: 'input-invalid' });
    }
    expect(handed).not.toHaveBeenCalled();
    expect(calls).toEqual([]);
  });

  test('Q01: one message twice is handed over once, and reported once', async () => {
    const twice = () => [message('m1', { id: 1 }), message('m1', { id: 1 }), message('m2', { id: 2 })];
    const good = drained(kit, undefined, { options: { wait: { seconds: 10 } } });
    expect(await good.send(twice())).toEqual([]);
    expect(good.handed.mock.calls).toEqual([[['m1', 'm2']]]);
    const bad = drained(kit, () => naming('m1'), { options: { wait: { seconds: 10 } } });
    expect(await bad.send(twice())).toEqual(['m1']);
  });

  describe('two messages with one business key', () => {
    const twins = () => [message('m1', { id: 1 }), message('m2', { id: 2 }), message('m3', { id: 1 })];

    test('the second shares the fate of the first, and nobody waits', async () => {
      const started = performance.now();
      const good = drained(kit, undefined, { options: { wait: { seconds: 10 } } });
      expect(await good.send(twins())).toEqual([]);
      expect(good.handed.mock.calls).toEqual([[['m1', 'm2']]]);
      const bad = drained(kit, () => naming('m1'), { options: { wait: { seconds: 10 } } });
      expect(await bad.send(twins())).toEqual(['m1', 'm3']);
      expect(
        bad.reasons.map(([id]) => id),
        'told of both',
      ).toEqual(['m1', 'm3']);
      expect(performance.now() - started).toBeLessThan(2000);
    });

    test('Q11: one with another payload follows nobody: it is a reused key', async () => {
      const other = message('m3', { id: 1, amount: 6 });
      const { send, handed, reasons } = drained(kit, undefined, { options: { wait: { seconds: 10 } } });
      expect(await send([...twins().slice(0, 2), other])).toEqual(['m3']);
      expect(handed.mock.calls).toEqual([[['m1', 'm2']]]);
      expect(reasons).toEqual([['m3', 'key-reused']]);
    });

    test('in two FIFO groups the second fails as busy, so that its group does not overtake it', async () => {
      const records = [
        inGroup('g1', 'a', { id: 1 }),
        inGroup('g2', 'twin', { id: 1 }),
        inGroup('g2', 'b', { id: 2 }),
      ];
      const { send, handed, reasons } = drained(kit, () => sleep(5), {
        options: { wait: { seconds: 10 } },
      });
      const started = performance.now();
      expect(await send(records)).toEqual(['twin', 'b']);
      expect(performance.now() - started).toBeLessThan(2000);
      expect(handed.mock.calls).toEqual([[['a']]]);
      expect(reasons).toEqual([
        ['twin', 'busy'],
        ['b', 'NotAttempted'],
      ]);
      expect(await send(records)).toEqual([]);
      expect(handed.mock.calls).toEqual([[['a']], [['b']]]);
    });

    test('in one FIFO group the second follows, and its group goes on', async () => {
      const records = ['a', 'twin', 'c'].map((id) => inGroup('g1', id, { id: id === 'c' ? 2 : 1 }));
      const { send, handed } = drained(kit, stoppingAt());
      expect(await send(records)).toEqual([]);
      expect(handed.mock.calls).toEqual([[['a', 'c']]]);
    });
  });

  test('Q02: a live duplicate is reported and not handed over, on the real engine', async () => {
    const store = (await freshTable()).store();
    const [started, finish] = [gate(), gate()];
    const options = { store };
    const first = drained(
      kit,
      async () => {
        started.open();
        await finish.opened;
      },
      { options },
    );
    const second = drained(kit, undefined, { options });
    const running = first.send([message('m1', { id: 1 })]);
    await started.opened;
    expect(await second.send([message('m1', { id: 1 }), message('m2', { id: 2 })])).toEqual(['m1']);
    expect(second.handed.mock.calls).toEqual([[['m2']]]);
    expect(second.reasons).toEqual([['m1', 'busy']]);
    finish.open();
    expect(await running).toEqual([]);
    expect(await second.send([message('m1', { id: 1 })])).toEqual([]);
    expect(second.handed).toHaveBeenCalledTimes(1);
  });

  test('Q03: FIFO: behind what is refused nothing of its group is claimed or handed over', async () => {
    const all = drained(kit, stoppingAt());
    const [a, b, c] = ['a', 'b', 'c'].map((id) => inGroup('g1', id, { id })) as [
      SqsRecordLike,
      SqsRecordLike,
      SqsRecordLike,
    ];
    const d = inGroup('g2', 'd', { id: 'd' });
    expect(await all.send([a, inGroup('g1', 'x', {}), c, d])).toEqual(['x', 'c']);
    expect(all.handed.mock.calls).toEqual([[['a', 'd']]]);
    expect(all.records()).toHaveLength(2);
    expect(all.reasons).toEqual([
      ['x', 'key-missing'],
      ['c', 'NotAttempted'],
    ]);
    expect(await all.send([b, c]), 'nothing is remembered').toEqual([]);
    expect(ran).toEqual(['a', 'd', 'b', 'c']);
  });

  test('Q03: FIFO: a group that the handler stops comes again in its order', async () => {
    const all = drained(kit, (records) =>
      stoppingAt(...(all.handed.mock.calls.length === 1 ? ['b'] : []))(records),
    );
    const group = ['a', 'b', 'c'].map((id) => inGroup('g1', id, { id }));
    expect(await all.send(group)).toEqual(['b', 'c']);
    expect(await all.send(group)).toEqual([]);
    expect(all.handed.mock.calls).toEqual([[['a', 'b', 'c']], [['b', 'c']]]);
    expect(ran).toEqual(['a', 'b', 'c']);
  });

  test('Q08: too little time: nothing is claimed and the handler is not called', async () => {
    const { send, handed, calls, reasons } = drained(kit);
    expect(await send([message('m1', { id: 1 })], { getRemainingTimeInMillis: () => 900 })).toEqual(['m1']);
    expect(reasons).toEqual([['m1', 'NotAttempted']]);
    expect(handed).not.toHaveBeenCalled();
    expect(calls).toEqual([]);
  });

  test('claims are made so many at once, and all before the handler', async () => {
    let [inFlight, most] = [0, 0];
    const counting = drained(kit);
    const store: typeof counting.store = {
      ...counting.store,
      async write(transition, limits) {
        inFlight += 1;
        if (transition.kind === 'claim') most = Math.max(most, inFlight);
        await sleep(2);
        inFlight -= 1;
        return counting.store.write(transition, limits);
      },
    };
    const all = drained(
      kit,
      () => {
        expect(counting.records().map(({ state }) => state)).toEqual(Array(12).fill('claimed'));
      },
      { options: { store, concurrency: 3 } },
    );
    expect(await all.send(Array.from({ length: 12 }, (_, id) => message(`m${id}`, { id })))).toEqual([]);
    expect(most).toBe(3);
  });

  test('a store that breaks its contract for one record leaves no claim of the others behind', async () => {
    const world = drained(kit);
    let broken = true;
    const store: typeof world.store = {
      ...world.store,
      async write(transition, limits) {
        if (broken) {
          broken = false;
          throw new TypeError('a bug in the store');
        }
        return world.store.write(transition, limits);
      },
    };
    const all = drained(kit, undefined, { options: { store } });
    expect(await all.send([1, 2].map((id) => message(`m${id}`, { id })))).toEqual(['m1']);
    expect(all.handed.mock.calls).toEqual([[['m2']]]);
    expect(world.records().map(({ state }) => state)).toEqual(['completed']);
  });

  test('claimOf(record) is that record’s claim; the event of the caller stays whole', async () => {
    const event = { Records: [message('m1', { id: 1 }), message('m2', {}), message('m3', { id: 3 })] };
    const { chain } = drained(kit, (records) => {
      expect(records.map((record) => claimOf(record))).toMatchObject([
        { key: '1', held: true, attempt: 1 },
        { key: '3', held: true, attempt: 1 },
      ]);
    });
    await chain(event, {});
    expect(event.Records).toHaveLength(3);
  });

  test('many requests at once keep to themselves', async () => {
    const all = drained(kit, async (records) => {
      await sleep(Math.random() * 10);
      return naming(...records.filter(({ body }) => body.includes('bad')).map(({ messageId }) => messageId));
    });
    const sends = Array.from({ length: 20 }, (_, n) =>
      all.send([message(`g${n}`, { id: `g${n}` }), message(`b${n}`, { id: `b${n}`, bad: true })]),
    );
    expect(await Promise.all(sends)).toEqual(sends.map((_, n) => [`b${n}`]));
  });

  test('the kill switch: everything is handed over, the answer is the handler’s own', async () => {
    vi.stubEnv('LAMBDA_ONCE_DISABLED', '1');
    const held: boolean[] = [];
    const { chain, handed, calls, events } = drained(kit, (records) => {
      for (const record of records) held.push(claimOf(record).held);
      return naming('m1');
    });
    const event = { Records: [message('m1', { id: 1 }), message('m1', { id: 1 }), message('m2', {})] };
    expect(await chain(event, {})).toEqual(naming('m1'));
    expect(handed.mock.calls).toEqual([[['m1', 'm1', 'm2']]]);
    expect(held).toEqual([false, false, false]);
    expect(calls).toEqual([]);
    expect(events).toEqual([{ type: 'bypassed', operation: 'ship-order', reason: 'disabled' }]);
  });

  test('a switch thrown in mid-batch acknowledges nothing that did not run', async () => {
    const { send, handed, reasons } = drained(kit, undefined, {
      options: {
        key: ({ messageId }) => {
          vi.stubEnv('LAMBDA_ONCE_DISABLED', '1');
          return messageId;
        },
      },
    });
    const sent = [message('m1', { id: 1 }), message('m2', { id: 2 })];
    expect(await send(sent)).toEqual(['m2']);
    expect(handed.mock.calls).toEqual([[['m1']]]);
    expect(reasons).toEqual([['m2', 'NotAttempted']]);
  });

  test('the kill switch leaves an event of another source alone', async () => {
    vi.stubEnv('LAMBDA_ONCE_DISABLED', '1');
    const ours = sqsIdempotency({ store: memoryStore(), operation: 'ship-order', key: bodyKey('id') });
    const chain = kit
      .middy()
      .use(ours)
      .handler((event) => event);
    for (const event of [{ warmup: true }, { Records: null }, { Records: [null, 'x'] }]) {
      expect(await chain(event, {})).toEqual(event);
    }
  });
});
