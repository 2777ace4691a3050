import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { message } from '../adapters/batch/support.ts';
import { contextWith } from '../support/http.ts';
import { drained, naming } from './sqs-support.ts';
import { type Hooks, kits } from './support/middy.ts';
import { gate } from './support/world.ts';

const batch = () => [1, 2, 3].map((id) => message(`m${id}`, { id }));
const ids = ['m1', 'm2', 'm3'];

describe.each(kits)('what an existing batch handler answers, Middy $version', (kit) => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty object', {}],
    ['an empty list', { batchItemFailures: [] }],
    ['a null list', { batchItemFailures: null }],
    ['a list that is undefined', { batchItemFailures: undefined }],
  ])('Q04: %s: all succeeded, as Lambda reads it', async (_name, answer) => {
    const { send, handed, records } = drained(kit, () => answer);
    expect(await send(batch())).toEqual([]);
    expect(records().map(({ state }) => state)).toEqual(Array(3).fill('completed'));
    expect(await send(batch()), 'and they replay').toEqual([]);
    expect(handed.mock.calls).toEqual([[ids]]);
  });

  test('Q04: a list is honoured: those are released, the others completed', async () => {
    const { send, handed, records, reasons } = drained(kit, (_records) =>
      handed.mock.calls.length === 1 ? naming('m3', 'm1', 'm3') : undefined,
    );
    expect(await send(batch())).toEqual(['m1', 'm3']);
    expect(records().map(({ state }) => state)).toEqual(['released', 'completed', 'released']);
    expect(reasons.map(([id]) => id)).toEqual(['m1', 'm3']);
    expect(await send(batch())).toEqual([]);
    expect(handed.mock.calls).toEqual([[ids], [['m1', 'm3']]]);
  });

  test.each([
    ['an unknown id', naming('m1', 'm9'), 'batchItemFailures[1] no record'],
    ['an empty id', naming(''), 'batchItemFailures[0] no record'],
    ['a null id', naming(null), 'batchItemFailures[0] no record'],
    ['another key name', { batchItemFailures: [{ messageId: 'm1' }] }, 'batchItemFailures[0] no record'],
    ['a bare id', { batchItemFailures: ['m1'] }, 'batchItemFailures[0] no record'],
    ['a null item', { batchItemFailures: [null] }, 'batchItemFailures[0] no record'],
    ['a list that is none', { batchItemFailures: 'm1' }, 'no list'],
    ['an array', ['m1'], 'no object'],
    ['results of allSettled', [{ status: 'fulfilled' }], 'no object'],
    ['a text', 'ok', 'no object'],
    ['true', true, 'no object'],
    ['an object without the list', { batchitemfailures: [] }, 'no batchItemFailures'],
    ['an HTTP answer', { statusCode: 200 }, 'no batchItemFailures'],
  ])('Q04: %s: all are held, and an error says why', async (_name, answer, fault) => {
    const { send, handed, records, told, reasons } = drained(kit, () => answer);
    await expect(send(batch())).rejects.toMatchObject({
      code: 'options',
      message: expect.stringContaining(fault),
    });
    expect(records().map(({ state }) => state)).toEqual(Array(3).fill('claimed'));
    expect(told().filter((type) => type === 'held')).toHaveLength(3);
    expect(reasons).toEqual(ids.map((id) => [id, 'options']));
    expect(await send(batch()), 'nobody knows what is done: nothing runs').toEqual(ids);
    expect(handed).toHaveBeenCalledTimes(1);
  });

  test('an error is that of every record: released by default', async () => {
    const own = new Error('the database is down');
    const { send, handed, records, reasons } = drained(kit, () => {
      throw own;
    });
    await expect(send(batch())).rejects.toBe(own);
    expect(records().map(({ state }) => state)).toEqual(Array(3).fill('released'));
    expect(reasons).toEqual(ids.map((id) => [id, own.message]));
    await expect(send(batch())).rejects.toBe(own);
    expect(handed).toHaveBeenCalledTimes(2);
  });

  test.each([
    ['hold', 'claimed', 'busy'],
    ['record', 'completed', 'the database is down'],
  ] as const)('an error under onFailure %s: %s, and nothing runs again', async (onFailure, state, reason) => {
    const work = () => Promise.reject(new Error('the database is down'));
    const { send, handed, records, reasons } = drained(kit, work, { options: { onFailure } });
    await expect(send(batch())).rejects.toThrow('the database is down');
    expect(records().map((record) => record.state)).toEqual(Array(3).fill(state));
    reasons.length = 0;
    expect(await send(batch())).toEqual(ids);
    expect(reasons).toEqual(ids.map((id) => [id, reason]));
    expect(handed).toHaveBeenCalledTimes(1);
  });

  test('a deliberate 4xx is recorded for every record, and fails again without running', async () => {
    const refusal = Object.assign(new Error('unknown product'), { statusCode: 422 });
    const { send, handed } = drained(kit, () => Promise.reject(refusal));
    await expect(send(batch())).rejects.toBe(refusal);
    expect(await send(batch())).toEqual(ids);
    expect(handed).toHaveBeenCalledTimes(1);
  });

  test('a middleware below that answers for the error still names what was refused before', async () => {
    const calming: Hooks = {
      onError: (request) => {
        request.response = naming('m1');
      },
    };
    const { send, records } = drained(kit, () => Promise.reject(new Error('no')), { below: calming });
    expect(await send([...batch(), message('m4', {})])).toEqual([...ids, 'm4']);
    expect(records().map(({ state }) => state)).toEqual(Array(3).fill('released'));
  });

  test('M10: an early timeout holds: the handler still runs, and nothing runs beside it', async () => {
    const { opened, open } = gate();
    let effects = 0;
    const all = drained(
      kit,
      async () => {
        await opened;
        effects += 1;
      },
      { plugin: { timeoutEarlyInMillis: 10 }, options: { floor: { milliseconds: 0 } } },
    );
    await expect(all.send(batch(), contextWith(200))).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(all.records().map(({ state }) => state)).toEqual(Array(3).fill('claimed'));
    expect(await all.send(batch())).toEqual(ids);
    open();
    await expect.poll(() => effects).toBe(1);
    all.skip(60_000);
    expect(await all.send(batch())).toEqual(ids);
    expect(all.reasons.slice(-3).map(([, reason]) => reason)).toEqual(Array(3).fill('in-doubt'));
    expect(all.handed).toHaveBeenCalledTimes(1);
  });

  test('M11: an early timeout that answers with all records as failed holds them as well', async () => {
    const { opened, open } = gate();
    const all = drained(kit, () => opened, {
      plugin: { timeoutEarlyInMillis: 10, timeoutEarlyResponse: () => naming(...ids) },
      options: { floor: { milliseconds: 0 } },
    });
    expect(await all.send(batch(), contextWith(200))).toEqual(ids);
    expect(all.records().map(({ state }) => state)).toEqual(Array(3).fill('claimed'));
    open();
  });

  test('M11: an early timeout that answers nothing acknowledges no message: the handler still runs', async () => {
    const { opened, open } = gate();
    const all = drained(kit, () => opened, {
      plugin: { timeoutEarlyInMillis: 10, timeoutEarlyResponse: () => undefined },
      options: { floor: { milliseconds: 0 } },
    });
    expect(await all.send(batch(), contextWith(200))).toEqual(ids);
    expect(all.records().map(({ state }) => state)).toEqual(Array(3).fill('claimed'));
    open();
  });

  describe('somebody else in the chain fails', () => {
    const failing = (hook: 'before' | 'after', error: Error = new Error('metrics are down')): Hooks => ({
      [hook]: () => Promise.reject(error),
    });

    test('below us, after the handler had reported: its report counts, nothing done runs again', async () => {
      const { send, handed, records } = drained(kit, () => naming('m2'), { below: failing('after') });
      await expect(send(batch())).rejects.toThrow('metrics are down');
      expect(records().map(({ state }) => state)).toEqual(['completed', 'released', 'completed']);
      await expect(send(batch())).rejects.toThrow('metrics are down');
      expect(handed.mock.calls).toEqual([[ids], [['m2']]]);
    });

    test('below us, after an answer that nobody can read: held', async () => {
      const { send, records } = drained(kit, () => [1], { below: failing('after') });
      await expect(send(batch())).rejects.toThrow('metrics are down');
      expect(records().map(({ state }) => state)).toEqual(Array(3).fill('claimed'));
    });

    test('below us, before the handler: released', async () => {
      const { send, handed, records } = drained(kit, undefined, { below: failing('before') });
      await expect(send(batch())).rejects.toThrow('metrics are down');
      expect(records().map(({ state }) => state)).toEqual(Array(3).fill('released'));
      expect(handed).not.toHaveBeenCalled();
    });

    test('a parser of Middy’s refuses the batch before the handler: nothing is recorded', async () => {
      const refusal = Object.assign(new Error('Invalid or malformed JSON'), {
        statusCode: 422,
        cause: { package: '@middy/event-batch-parser' },
      });
      const { send, records } = drained(kit, undefined, { below: failing('before', refusal) });
      await expect(send(batch())).rejects.toBe(refusal);
      expect(records().map(({ state }) => state)).toEqual(Array(3).fill('released'));
    });

    test('above us, after everything: done stays done, and an answer made of the error names what failed', async () => {
      const calming: Hooks = {
        onError: (request) => {
          const { Records } = request.event as unknown as { Records: { messageId: string }[] };
          request.response = naming(...Records.map(({ messageId }) => messageId));
        },
      };
      const broken = { above: failing('after'), below: calming };
      const { send, records } = drained(kit, () => naming('m2'), broken);
      expect(await send([...batch(), message('m4', {})])).toEqual(['m2', 'm4']);
      expect(records().map(({ state }) => state)).toEqual(['completed', 'released', 'completed']);
    });

    test('a misread answer that somebody turns into a response: it names every record of the batch', async () => {
      const calming: Hooks = {
        onError: (request) => {
          request.response = naming('m1');
        },
      };
      const { send } = drained(kit, () => naming('m9'), { below: calming });
      expect(await send([...batch(), message('m4', {})])).toEqual([...ids, 'm4']);
    });
  });

  test('a completion that the store does not take changes nothing about the answer', async () => {
    const all = drained(kit, () => all.breakWrites('complete', 'release'));
    expect(await all.send(batch(), contextWith(1300))).toEqual([]);
    expect(all.told()).toContain('store-failed');
  });

  test('a claim that was lost meanwhile is answered by what stands', async () => {
    const all = drained(
      kit,
      async () => {
        if (all.handed.mock.calls.length > 1) return;
        all.skip(60_000);
        expect(await all.send(batch().slice(0, 1))).toEqual([]);
      },
      { options: { onLapse: 'rerun', lease: { seconds: 1 }, concurrency: 1 } },
    );
    expect(await all.send(batch(), {})).toEqual([]);
    expect(all.told()).toContain('lease-lost');
  });

  test('handlers that answer at once, late or by a promise are all the same', async () => {
    for (const work of [
      () => naming('m1'),
      async () => naming('m1'),
      () => sleep(5).then(() => naming('m1')),
    ]) {
      expect(await drained(kit, work).send(batch())).toEqual(['m1']);
    }
  });

  test('onFailures throw: an error instead of a list', async () => {
    const { send } = drained(kit, () => naming('m1'), { options: { onFailures: 'throw' } });
    await expect(send(batch())).rejects.toThrow('1 records of the batch failed');
    expect(await drained(kit, undefined, { options: { onFailures: 'throw' } }).send(batch())).toEqual([]);
    const refused = drained(kit, vi.fn(), { options: { onFailures: 'throw' } });
    await expect(refused.send([message('m1', {})])).rejects.toThrow('1 records of the batch failed');
    expect(refused.handed).not.toHaveBeenCalled();
  });
});
