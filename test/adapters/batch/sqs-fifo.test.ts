import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { gate } from '../../middleware/support/world.ts';
import { freshTable } from '../../support/table.ts';
import { consumer, failsFor, inGroup, message } from './support.ts';

const a = inGroup('g1', 'a', { id: 'a' });
const b = inGroup('g1', 'b', { id: 'b' });
const c = inGroup('g1', 'c', { id: 'c' });
const d = inGroup('g2', 'd', { id: 'd' });

describe('Q03: FIFO', () => {
  test('Q03: behind a failure nothing of its group runs; nothing is remembered; on the real engine', async () => {
    const table = await freshTable();
    const broken = new Set(['b']);
    const { send, ran, reasons } = consumer(
      ({ messageId }) => {
        if (broken.has(messageId)) throw new Error('not today');
      },
      { store: table.store() },
    );
    expect(await send([a, b, c, d])).toEqual(['b', 'c']);
    expect(ran.filter((id) => id !== 'd')).toEqual(['a', 'b']);
    expect(ran).toContain('d');
    expect((await table.records()).map(({ state }) => state).sort(), 'c is not claimed').toEqual([
      'completed',
      'completed',
      'released',
    ]);
    expect(reasons).toEqual([
      ['b', 'not today'],
      ['c', 'NotAttempted'],
    ]);
    broken.clear();
    ran.length = 0;
    expect(await send([b, c])).toEqual([]);
    expect(ran).toEqual(['b', 'c']);
  });

  test('Q03: busy stops its group as well, and so does a record without a key, or out of time', async () => {
    const [started, finish] = [gate(), gate()];
    const all = consumer(async ({ messageId }) => {
      if (messageId !== 'a') return;
      started.open();
      await finish.opened;
    });
    const running = all.send([a]);
    await started.opened;
    expect(await all.send([a, b, d])).toEqual(['a', 'b']);
    finish.open();
    await running;
    expect(all.ran).toEqual(['a', 'd']);
    expect(await all.send([inGroup('g1', 'x', {}), b, d])).toEqual(['x', 'b']);
    const late = { getRemainingTimeInMillis: () => 500 };
    expect(await all.send([b, c], late)).toEqual(['b', 'c']);
    expect(all.ran).toEqual(['a', 'd']);
  });

  test('Q03: in a group one after the other and in order, groups side by side', async () => {
    const log: string[] = [];
    const { send } = consumer(
      async ({ messageId }) => {
        log.push(`+${messageId}`);
        await sleep(messageId === 'a' ? 30 : 5);
        log.push(`-${messageId}`);
      },
      { concurrency: 10 },
    );
    expect(await send([a, b, c, d])).toEqual([]);
    const group = log.filter((entry) => !entry.endsWith('d'));
    expect(group).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']);
    expect(log.indexOf('+d')).toBeLessThan(log.indexOf('-a'));
  });

  test('Q03: one slow group does not keep the others from the workers', async () => {
    const log: string[] = [];
    const finish = gate();
    const { send } = consumer(
      async ({ messageId }) => {
        log.push(messageId);
        if (messageId === 'a') await finish.opened;
        if (messageId === 'e') finish.open();
      },
      { concurrency: 2 },
    );
    expect(await send([a, b, c, d, inGroup('g3', 'e', { id: 'e' })])).toEqual([]);
    expect(log).toEqual(['a', 'd', 'e', 'b', 'c']);
  });

  test('Q03: without a group everything stands in one line', async () => {
    const { send, ran } = consumer(failsFor('y'));
    const line = ['x', 'y', 'z'].map((id) => inGroup(undefined, id, { id }));
    expect(await send(line)).toEqual(['y', 'z']);
    expect(ran).toEqual(['x', 'y']);
  });

  test('Q03: a replayed record stops nobody', async () => {
    const { send, ran } = consumer();
    await send([a]);
    expect(await send([a, b, c])).toEqual([]);
    expect(ran).toEqual(['a', 'b', 'c']);
  });

  test('Q03 Q11: a reused key stops its group until it is in the dead-letter queue', async () => {
    const { send, ran } = consumer();
    await send([a]);
    expect(await send([inGroup('g1', 'a2', { id: 'a', more: 1 }), b, d])).toEqual(['a2', 'b']);
    expect(ran).toEqual(['a', 'd']);
    expect(await send([b])).toEqual([]);
  });

  test('one key in two groups: the second comes after the first and replays', async () => {
    const { send, ran, told } = consumer(() => sleep(20), { wait: { seconds: 10 } });
    expect(await send([a, inGroup('g2', 'twin', { id: 'a' }), inGroup('g2', 'e', { id: 'e' })])).toEqual([]);
    expect(ran).toEqual(['a', 'e']);
    expect(told()).not.toContain('waited');
  });

  test('group ids on a standard queue (fair queues) promise no order and stop nobody', async () => {
    const [started, finish] = [gate(), gate()];
    const fair = (id: string) =>
      message(
        id,
        { id },
        {
          eventSourceARN: 'arn:aws:sqs:eu-central-1:0:orders',
          attributes: { MessageGroupId: 'tenant' },
        },
      );
    const { send, ran } = consumer(async ({ messageId }) => {
      if (messageId === 'b') started.open();
      if (messageId !== 'a') return;
      await started.opened;
      finish.open();
      throw new Error('a failed');
    });
    expect(await send([fair('a'), fair('b'), fair('c')])).toEqual(['a']);
    await finish.opened;
    expect(ran).toEqual(['a', 'b', 'c']);
  });
});
