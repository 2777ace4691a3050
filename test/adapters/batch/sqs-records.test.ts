import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { messageIdKey } from '../../../src/index.ts';
import { gate } from '../../middleware/support/world.ts';
import { freshTable } from '../../support/table.ts';
import { consumer, failsFor, message } from './support.ts';

describe.each([[1], [10]])('Q01: one message twice in one batch, concurrency %d', (concurrency) => {
  const batch = () => [message('m1', { id: 1 }), message('m1', { id: 1 }), message('m2', { id: 2 })];

  test('Q01: it runs once and is not reported', async () => {
    const { send, ran, calls } = consumer(() => sleep(5), { concurrency, wait: { seconds: 10 } });
    const started = performance.now();
    expect(await send(batch())).toEqual([]);
    expect(ran).toEqual(['m1', 'm2']);
    expect(calls.filter((kind) => kind === 'claim')).toHaveLength(2);
    expect(performance.now() - started, 'it does not wait for itself').toBeLessThan(2000);
  });

  test('Q01: when it fails, its id is reported once, and its twin is not tried', async () => {
    const { send, ran, reasons } = consumer(failsFor('m1'), { concurrency, wait: { seconds: 10 } });
    expect(await send(batch())).toEqual(['m1']);
    expect(ran).toEqual(['m1', 'm2']);
    expect(reasons).toEqual([['m1', 'm1 failed']]);
  });
});

describe('two messages with one business key in one batch', () => {
  const twins = () => [message('m1', { id: 1 }), message('m2', { id: 1 }), message('m3', { id: 3 })];

  test('the second replays, without waiting for the first from beside it', async () => {
    const { send, ran, told } = consumer(() => sleep(10), { wait: { seconds: 10 } });
    expect(await send(twins())).toEqual([]);
    expect(ran).toEqual(['m1', 'm3']);
    expect(told().filter((type) => type === 'replayed' || type === 'waited')).toEqual(['replayed']);
  });

  test('the second runs when the first failed', async () => {
    const { send, ran } = consumer(failsFor('m1'));
    expect(await send(twins())).toEqual(['m1']);
    expect(ran.toSorted()).toEqual(['m1', 'm2', 'm3']);
  });

  test('the second does not wait for a claim that the first left to its lease', async () => {
    const { send, ran, reasons } = consumer(
      ({ messageId }) => {
        if (messageId === 'm1') throw new DOMException('slow carrier', 'TimeoutError');
      },
      { wait: { seconds: 10 } },
    );
    const started = performance.now();
    expect(await send(twins())).toEqual(['m1', 'm2']);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(ran).toEqual(['m1', 'm3']);
    expect(reasons).toEqual([
      ['m1', 'slow carrier'],
      ['m2', 'busy'],
    ]);
  });
});

test('Q02: a duplicate of a live run elsewhere fails, the rest is done; later it replays, on the real engine', async () => {
  const store = (await freshTable()).store();
  const [started, finish] = [gate(), gate()];
  const first = consumer(
    async () => {
      started.open();
      await finish.opened;
    },
    { store, operation: 'ship-order' },
  );
  const second = consumer(undefined, { store, operation: 'ship-order' });
  const running = first.send([message('m1', { id: 1 })]);
  await started.opened;
  expect(await second.send([message('m1', { id: 1 }), message('m2', { id: 2 })])).toEqual(['m1']);
  expect(second.ran).toEqual(['m2']);
  expect(second.reasons).toEqual([['m1', 'busy']]);
  finish.open();
  expect(await running).toEqual([]);
  expect(await second.send([message('m1', { id: 1 })])).toEqual([]);
  expect(second.ran).toEqual(['m2']);
});

test('Q02: a duplicate whose first run ended without a word fails as in-doubt and is not run', async () => {
  const { send, ran, reasons, skip } = consumer(({ messageId }) =>
    messageId === 'm1' ? Promise.reject(new DOMException('?', 'TimeoutError')) : undefined,
  );
  await send([message('m1', { id: 1 })]);
  skip(60_000);
  expect(await send([message('m1b', { id: 1 }), message('m2', { id: 2 })])).toEqual(['m1b']);
  expect(ran).toEqual(['m1', 'm2']);
  expect(reasons.at(-1)).toEqual(['m1b', 'in-doubt']);
});

describe('Q07: a message that comes back under another message id', () => {
  test('Q07: with a key of the business it replays, on the real engine', async () => {
    const { send, ran } = consumer(undefined, { store: (await freshTable()).store() });
    expect(await send([message('m1', '{"id":7,"to":"Bonn"}')])).toEqual([]);
    expect(await send([message('m9', '{ "to": "Bonn", "id": 7.0 }')])).toEqual([]);
    expect(ran).toEqual(['m1']);
  });

  test('Q07: with the message id as the key it runs again: that key knows deliveries and no business', async () => {
    const { send, ran } = consumer(undefined, { key: messageIdKey() });
    for (const id of ['m1', 'm1', 'm9']) expect(await send([message(id, { id: 7 })])).toEqual([]);
    expect(ran).toEqual(['m1', 'm9']);
  });

  test('Q07: a record without a key fails by itself, before any store call, and shares no bucket', async () => {
    const { send, ran, reasons, calls } = consumer();
    const strange = ['{}', '{"id":null}', '{"id":""}', '{"id":"  "}', 'no json', '', '{"id":{"a":1}}', '[]'];
    const records = strange.map((body, index) => message(`s${index}`, body));
    expect(await send([...records, message('m1', { id: 1 })])).toEqual(
      records.map(({ messageId }) => messageId),
    );
    expect(ran).toEqual(['m1']);
    expect(calls).toEqual(['claim', 'complete']);
    expect(new Set(reasons.map(([, reason]) => reason))).toEqual(new Set(['key-missing']));
  });

  test('Q07: a key function that throws fails its record alone; one that waits is awaited', async () => {
    const { send, ran, reasons } = consumer(undefined, {
      key: async ({ body }) => JSON.parse(body).id as string,
    });
    expect(
      await send([message('m1', 'no json'), message('m2', { id: 'b' }), message('m3', { id: 4 })]),
    ).toEqual(['m1', 'm3']);
    expect(ran).toEqual(['m2']);
    expect(reasons.find(([id]) => id === 'm1')?.[1]).toMatch(/JSON/);
    expect(reasons.find(([id]) => id === 'm3')?.[1], 'a number is no key').toBe('key-invalid');
  });
});

describe('Q11: a key that was used for something else', () => {
  test.each([['in a later batch'], ['in the same batch']])(
    'Q11: %s: failed with a typed error, the others are done, on the real engine',
    async (when) => {
      const table = await freshTable();
      const { send, ran, reasons } = consumer(undefined, { store: table.store() });
      const first = message('m1', { id: 1, amount: 5 });
      const rest = [message('m2', { id: 1, amount: 6 }), message('m3', { id: 3 })];
      if (when === 'in the same batch') expect(await send([first, ...rest])).toEqual(['m2']);
      else {
        expect(await send([first])).toEqual([]);
        expect(await send(rest)).toEqual(['m2']);
      }
      expect(ran.toSorted()).toEqual(['m1', 'm3']);
      expect(reasons).toEqual([['m2', 'key-reused']]);
      expect(await send([message('m2', { id: 1, amount: 6 })]), 'until it is in the DLQ').toEqual(['m2']);
      expect((await table.records()).map(({ state }) => state)).toEqual(['completed', 'completed']);
    },
  );

  test('Q11: an allow-list says what must be the same; false switches it off', async () => {
    for (const fingerprint of [{ body: ['id', 'amount'] }, false] as const) {
      const { send, ran } = consumer(undefined, { fingerprint });
      await send([message('m1', { id: 1, amount: 5, at: 1 })]);
      expect(await send([message('m2', { id: 1, amount: 5, at: 2 })])).toEqual([]);
      expect(await send([message('m3', { id: 1, amount: 6 })])).toEqual(fingerprint === false ? [] : ['m3']);
      expect(ran).toEqual(['m1']);
    }
  });

  test('Q11: a body is compared by its meaning when it is JSON, and by its bytes when it is not', async () => {
    const { send, reasons } = consumer(undefined, { key: () => 'one' });
    await send([message('m1', '[1, {"a":1,"b":12345678901234567890}]')]);
    expect(await send([message('m2', '[1.0,{"b":12345678901234567890,"a":1e0}]')])).toEqual([]);
    expect(await send([message('m3', '[{"a":1,"b":12345678901234567890},1]')])).toEqual(['m3']);
    expect(await send([message('m4', '[1, {"a":1,"b":12345678901234567891}]')])).toEqual(['m4']);
    expect(await send([message('m5', 'text')])).toEqual(['m5']);
    expect(reasons.map(([, reason]) => reason)).toEqual(['key-reused', 'key-reused', 'key-reused']);
  });
});

describe('results and errors of a record', () => {
  test.each([
    ['a 500', { statusCode: 500 }, undefined, 'released'],
    ['a "502"', { statusCode: '502' }, undefined, 'released'],
    ['a 429', { statusCode: 429 }, undefined, 'released'],
    ['a 408', { statusCode: 408 }, undefined, 'claimed'],
    ['what classify holds', 'maybe', 'hold', 'claimed'],
    ['what classify releases', 'no', 'release', 'released'],
  ] as const)('%s counts as a failure', async (_name, result, verdict, state) => {
    const options = verdict === undefined ? {} : { classify: () => verdict };
    const { send, records, reasons } = consumer(() => result, options);
    expect(await send([message('m1', { id: 1 })])).toEqual(['m1']);
    expect(records()).toMatchObject([{ state }]);
    expect(reasons[0]?.[1]).toContain(state === 'claimed' ? '"hold"' : '"release"');
  });

  test.each([[undefined], [null], [false], [0], [''], [{ statusCode: 201 }], [{ statusCode: 404 }]])(
    'the result %j counts as done, and replays as done',
    async (result) => {
      const { send, ran } = consumer(() => result);
      for (const id of ['m1', 'm2']) expect(await send([message(id, { id: 1 })])).toEqual([]);
      expect(ran).toEqual(['m1']);
    },
  );

  test('Q11: a recorded rejection fails again without running, until it is in the dead-letter queue', async () => {
    const { send, ran, reasons, skip } = consumer(() => {
      throw Object.assign(new Error('no such product'), { statusCode: 422 });
    });
    for (let delivery = 0; delivery < 3; delivery += 1) {
      expect(await send([message('m1', { id: 1 })])).toEqual(['m1']);
      skip(60_000);
    }
    expect(ran).toEqual(['m1']);
    expect(reasons).toEqual(Array(3).fill(['m1', 'no such product']));
  });

  test.each([
    ['release', 2],
    ['record', 1],
    ['hold', 1],
  ] as const)(
    'onFailure %s: the record fails, and its next delivery runs %d times in all',
    async (verdict, runs) => {
      const { send, ran } = consumer(failsFor('m1'), { onFailure: verdict });
      for (let time = 0; time < 2; time += 1) expect(await send([message('m1', { id: 1 })])).toEqual(['m1']);
      expect(ran).toHaveLength(runs);
    },
  );

  test('a result that cannot be kept is done, and so is its duplicate', async () => {
    const { send, ran, told } = consumer(() => new Map([['a', 1]]));
    for (const id of ['m1', 'm2']) expect(await send([message(id, { id: 1 })])).toEqual([]);
    expect(ran).toEqual(['m1']);
    expect(told()).toEqual(['claimed', 'not-kept', 'refused']);
  });

  test('all records end before the response, whatever the others do', async () => {
    const ended: string[] = [];
    const { send } = consumer(async ({ messageId }) => {
      if (messageId === 'm1') throw new Error('at once');
      await sleep(60);
      ended.push(messageId);
    });
    expect(await send([1, 2, 3].map((id) => message(`m${id}`, { id })))).toEqual(['m1']);
    expect(ended).toEqual(['m2', 'm3']);
  });

  test('a store that breaks its contract for one record fails that record alone', async () => {
    const { store, ...all } = consumer();
    const broken: typeof store = {
      ...store,
      async write(transition, limits) {
        if (all.calls.length === 0) {
          all.calls.push('broken');
          throw new TypeError('a bug in the store');
        }
        return store.write(transition, limits);
      },
    };
    const { send, ran } = consumer(() => sleep(20), { store: broken });
    expect(await send([1, 2, 3].map((id) => message(`m${id}`, { id })))).toEqual(['m1']);
    expect(ran).toEqual(['m2', 'm3']);
  });

  test('a store that is down fails the records and runs nothing; one that fails afterwards takes nothing back', async () => {
    const { send, ran, reasons, breakWrites } = consumer();
    breakWrites('claim');
    expect(await send([message('m1', { id: 1 }), message('m2', { id: 2 })])).toEqual(['m1', 'm2']);
    expect(reasons.map(([, reason]) => reason)).toEqual(['store', 'store']);
    expect(ran).toEqual([]);
    breakWrites('complete');
    expect(await send([message('m1', { id: 1 })], { getRemainingTimeInMillis: () => 1200 })).toEqual([]);
    expect(ran).toEqual(['m1']);
  });

  test('the handler gets the very record, the context and a claim', async () => {
    const seen: unknown[] = [];
    const record = message('m1', { id: 7 });
    const context = { getRemainingTimeInMillis: () => 5000, awsRequestId: 'r' };
    const { send } = consumer((...args) => void seen.push(...args));
    await send([record], context);
    expect(seen[0]).toBe(record);
    expect(seen[1]).toBe(context);
  });
});
