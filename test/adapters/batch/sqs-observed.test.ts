import { afterEach, describe, expect, test, vi } from 'vitest';
import { bodyKey, dynamoStore, idempotentSqs, type OnceEvent } from '../../../src/index.ts';
import { gate } from '../../middleware/support/world.ts';
import { consumer, failing, failsFor, inGroup, message } from './support.ts';

test('Q09: a live duplicate, a reused key and a bug of the handler look different in the events', async () => {
  const [started, finish] = [gate(), gate()];
  const all = consumer(async ({ messageId }) => {
    if (messageId === 'broken') throw new RangeError('a bug');
    if (messageId !== 'live') return;
    started.open();
    await finish.opened;
  });
  const running = all.send([message('live', { id: 1 })]);
  await started.opened;
  all.events.length = 0;
  const batch = [
    message('twin', { id: 1 }),
    message('other', { id: 1, more: 1 }),
    message('broken', { id: 2 }),
  ];
  expect(await all.send([...batch, message('nobody', {})])).toEqual(['twin', 'other', 'broken', 'nobody']);
  finish.open();
  await running;
  const refusals = all.events.filter(({ type }) => type === 'refused');
  expect(new Set(refusals.map((event) => 'code' in event && event.code))).toEqual(
    new Set(['busy', 'key-missing', 'key-reused']),
  );
  expect(refusals).toHaveLength(3);
  expect(all.events.filter(({ type }) => type === 'released')).toMatchObject([{ reason: 'RangeError' }]);
  expect(JSON.stringify(all.events), 'no key and no payload').not.toMatch(/"id":[12]|more/);
});

describe('onRecordFailure', () => {
  test('is told of every reported record once, with the error as it was thrown', async () => {
    const own = new Error('mine');
    const told: unknown[][] = [];
    const { send } = consumer(
      ({ messageId }) => {
        if (messageId === 'm1') throw own;
      },
      { onRecordFailure: (...args) => void told.push(args) },
    );
    const records = [message('m1', { id: 1 }), message('m2', { id: 2 })];
    await send(records);
    expect(told).toEqual([[own, records[0]]]);
    expect(told[0]?.[0]).toBe(own);
    expect(told[0]?.[1]).toBe(records[0]);
  });

  test('its own failure changes nothing, neither thrown nor rejected', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const rejected = vi.fn();
    process.on('unhandledRejection', rejected);
    const hooks: unknown[] = [
      () => {
        throw new TypeError('the hook is broken');
      },
      async () => Promise.reject(new TypeError('the hook is broken')),
    ];
    for (const onRecordFailure of hooks) {
      warned.mockClear();
      const { send } = consumer(failsFor('m1'), { onRecordFailure: onRecordFailure as () => void });
      expect(await send([inGroup('g', 'm1', { id: 1 }), inGroup('h', 'm2', { id: 2 })])).toEqual(['m1']);
      await new Promise((resolve) => setImmediate(resolve));
      expect(warned).toHaveBeenCalledWith(expect.stringContaining('"onRecordFailure" failed: TypeError'));
    }
    process.off('unhandledRejection', rejected);
    warned.mockRestore();
    expect(rejected).not.toHaveBeenCalled();
  });
});

describe('the kill switch', () => {
  afterEach(() => void vi.unstubAllEnvs());

  test('every record runs, unprotected; nothing is asked of the store or of the key; failures are still reported', async () => {
    vi.stubEnv('LAMBDA_ONCE_DISABLED', 'true');
    vi.stubEnv('LAMBDA_ONCE_TABLE', undefined);
    const events: OnceEvent[] = [];
    const key = vi.fn(bodyKey('id'));
    const held: boolean[] = [];
    const consume = idempotentSqs(
      async ({ messageId }, _context, claim) => {
        held.push(claim.held);
        if (messageId === 'm2') throw new Error('no');
      },
      { store: dynamoStore(), operation: 'ship', key, observe: (event) => void events.push(event) },
    );
    const records = [message('m1', {}), message('m2', { id: 1 }), message('m3', { id: 1 })];
    for (let time = 0; time < 2; time += 1) {
      expect(failing(await consume({ Records: records }, {}))).toEqual(['m2']);
    }
    expect(held).toEqual(Array(6).fill(false));
    expect(key).not.toHaveBeenCalled();
    expect(events).toEqual(Array(6).fill({ type: 'bypassed', operation: 'ship', reason: 'disabled' }));
  });

  test('a FIFO group keeps its order', async () => {
    vi.stubEnv('LAMBDA_ONCE_DISABLED', '1');
    const { send, ran } = consumer(failsFor('a'));
    expect(await send(['a', 'b'].map((id) => inGroup('g', id, { id })))).toEqual(['a', 'b']);
    expect(ran).toEqual(['a']);
  });
});
