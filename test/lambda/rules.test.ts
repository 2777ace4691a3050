import { describe, expect, test } from 'vitest';
import type { LapsedClaim, OnceEvent } from '../../src/index.ts';
import { crashed, day, lapsed, minute, nothing, settled } from './support.ts';

describe('what the sweeper was not told, the record says', () => {
  const untold = { operations: {} };

  test('W03: hold is left in doubt and reported, not released', async () => {
    const { clock, pay, run, sweep, record } = await crashed(() => 'absent', { onLapse: 'hold' }, untold);
    clock.advance(day / 2);
    const report = await sweep();
    expect(report).toMatchObject({ inDoubt: 1, released: 0, open: [{ id: record().id, why: 'held' }] });
    expect(record().state).toBe('in-doubt');
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('rerun is released at once, and runs when somebody comes', async () => {
    const { clock, pay, run, sweep, record } = await crashed(() => 'absent', { onLapse: 'rerun' }, untold);
    clock.advance(lapsed);
    expect(await sweep()).toEqual({ ...nothing, examined: 1, released: 1 });
    expect(record().state).toBe('released');
    expect(run).toHaveBeenCalledTimes(1);
    expect(await pay()).toBe('attempt 2');
  });

  test('a reconcile is not in the record: without being told it, nobody is asked', async () => {
    const { clock, sweep, record, reconcile } = await crashed(() => 'absent', {}, untold);
    clock.advance(settled);
    const report = await sweep();
    expect(report).toMatchObject({ inDoubt: 1, open: [{ id: record().id, why: 'no-reconcile' }] });
    expect(record().state).toBe('in-doubt');
    expect(reconcile).not.toHaveBeenCalled();
  });

  test('what it was told goes before the record', async () => {
    const { clock, sweep } = await crashed(
      () => 'absent',
      { onLapse: 'rerun' },
      { operations: { pay: 'hold' } },
    );
    clock.advance(lapsed);
    expect(await sweep()).toMatchObject({ released: 0, open: [{ why: 'held' }] });
  });
});

test("the handler's reconcile and the sweeper's are one function, told the same but for key and scope", async () => {
  const ran: unknown[] = [];
  const { clock, pay, sweep, reconcile } = await crashed(() => 'unknown', {
    work: async (claim, host) => {
      const quotedAt = await claim.capture('quotedAt', () => new Date(7).toISOString());
      ran.push([claim.token('charge'), claim.token('charge', 1), claim.uuid('order'), quotedAt, undefined]);
      await host.mayDie();
    },
  });
  clock.advance(lapsed);
  await sweep();
  await pay().catch(() => undefined);
  const [swept, retried] = reconcile.mock.calls.map(([claim]) => claim);
  const fields = ['id', 'operation', 'fence', 'attempt', 'claimedAt', 'leaseUntil'] as const;
  const facts = (claim: LapsedClaim | undefined) => [
    ...fields.map((field) => claim?.[field]),
    [
      claim?.token('charge'),
      claim?.token('charge', 1),
      claim?.uuid('order'),
      claim?.captured('quotedAt'),
      claim?.captured('nothing'),
    ],
  ];
  expect(facts(swept).at(-1)).toEqual(ran[0]);
  expect(facts(swept)).toEqual(facts(retried));
  expect(facts(swept)).not.toContain(undefined);
  expect([swept?.key, swept?.scope]).toEqual([undefined, undefined]);
  expect([retried?.key, retried?.scope]).toEqual(['o-1', 'none']);
});

test('each question and its answer is told to the observer', async () => {
  const events: OnceEvent[] = [];
  let answer: unknown = 'absent';
  const { clock, sweep, record } = await crashed(
    () => answer,
    {},
    { observe: (event) => void events.push(event) },
  );
  clock.advance(lapsed);
  await sweep();
  answer = 'unknown';
  await sweep();
  answer = 'neither';
  clock.advance(minute);
  await sweep();
  answer = { found: 1 };
  clock.advance(2 * minute);
  await sweep();
  const { id } = record();
  const verdicts = [
    { verdict: 'settling' },
    { verdict: 'unknown' },
    { verdict: 'failed', error: 'InvalidAnswer' },
    { verdict: 'found' },
  ];
  expect(events).toEqual(
    verdicts.map((verdict) => ({ type: 'reconciled', operation: 'pay', id, ...verdict })),
  );
});

test('a record in a state that a newer version wrote is left alone', async () => {
  const { clock, sweep, records, record } = await crashed(() => ({ found: 1 }));
  const newer = { ...record(), state: 'sealed' as 'claimed' };
  records.set(newer.id, newer);
  clock.advance(settled);
  expect(await sweep()).toMatchObject({ completed: 0, released: 0, inDoubt: 0 });
  expect(record()).toEqual(newer);
});
