import { describe, expect, test } from 'vitest';
import type { Claim, Duration } from '../../src/index.ts';
import {
  Host,
  inMemory,
  lapsed,
  minute,
  nothing,
  order,
  type PaymentOptions,
  payments,
  provider,
  settled,
  sweeper,
} from './support.ts';

/** An order with one effect, and a sweeper that knows it. */
function charging(options: PaymentOptions = {}, parts: { readonly settleAfter?: Duration } = {}) {
  const memory = inMemory();
  const host = new Host();
  const psp = provider(host);
  const charge = psp.effect(parts);
  const work = (claim: Claim) => claim.perform(charge, order);
  const operation = payments(memory.store, { host, onLapse: 'rerun', work, ...options });
  const sweep = (effects = [charge]) => sweeper({ store: memory.store, effects })();
  const entry = (): string | undefined => memory.record().effects?.[charge.name];
  return { ...memory, ...operation, psp, sweep, entry, name: charge.name };
}

test('found is journalled, and the next delivery goes on from there without a second charge', async () => {
  const { clock, crash, pay, run, psp, sweep, entry, record } = charging();
  await crash();
  const [token] = psp.charges;
  clock.advance(lapsed);
  expect(await sweep()).toEqual({ ...nothing, examined: 1, released: 1 });
  expect(record()).toMatchObject({ state: 'released', resolvedBy: 'sweeper' });
  expect(entry()).toContain('"state":"done"');
  expect(run).toHaveBeenCalledTimes(1);
  expect(await pay()).toEqual({ charge: token });
  expect(psp.charges).toEqual([token]);
  expect(psp.asked).toHaveLength(1);
});

test('found, where the operation holds: journalled, and left to a person', async () => {
  const { clock, crash, pay, psp, sweep, entry, record } = charging({ onLapse: 'hold' });
  await crash();
  clock.advance(lapsed);
  expect(await sweep()).toMatchObject({ inDoubt: 1, open: [{ why: 'held' }] });
  expect(record().state).toBe('in-doubt');
  expect(entry()).toContain('"state":"done"');
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  expect(psp.charges).toHaveLength(1);
});

test('rule 7: absent is not written down, and whoever runs it asks again right before', async () => {
  const { clock, crash, pay, psp, sweep, entry, record } = charging();
  psp.isUp = false;
  await crash();
  const before = entry();
  clock.advance(settled);
  expect(await sweep()).toMatchObject({ released: 1 });
  expect(record().state).toBe('released');
  expect(entry()).toBe(before);
  psp.isUp = true;
  expect(await pay()).toEqual({ charge: psp.charges[0] });
  expect(psp.charges).toHaveLength(1);
  expect(psp.asked.length).toBeGreaterThan(1);
});

test('rule 1: absent counts when the lease that it was begun under is over for settleAfter, not earlier', async () => {
  const { clock, crash, psp, sweep } = charging({}, { settleAfter: { seconds: 90 } });
  psp.isUp = false;
  await crash();
  clock.advance(lapsed + 90_000 - 1);
  expect(await sweep()).toMatchObject({ settling: 1, released: 0 });
  clock.advance(1);
  expect(await sweep()).toMatchObject({ settling: 0, released: 1 });
});

test.each([
  ['unknown', () => 'unknown', { why: 'unknown' }],
  ['a reconcile that throws', () => Promise.reject(new Error('down')), { why: 'failed', error: 'Error' }],
  ['a found server error', () => ({ found: { statusCode: 500 } }), { why: 'failed', error: 'InvalidAnswer' }],
])('%s leaves it in doubt, with the name of the effect', async (_, says, why) => {
  const { clock, crash, pay, psp, sweep, record, name } = charging();
  await crash();
  psp.says = says;
  clock.advance(settled);
  const { open, ...counts } = await sweep();
  expect(counts).toMatchObject({ inDoubt: 1, released: 0 });
  expect(open).toEqual([{ id: record().id, operation: 'pay', age: settled, ...why, effect: name }]);
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  expect(psp.charges).toHaveLength(1);
});

test.each<[string, unknown]>([
  ['found', { found: { charge: 'c' } }],
  ['absent', 'absent'],
  ['unknown', 'unknown'],
])('%s: no sweep runs the handler or the effect, however often it comes', async (_, answer) => {
  const { clock, crash, psp, run, sweep } = charging();
  await crash();
  psp.says = () => answer;
  for (let pass = 0; pass < 5; pass += 1) {
    clock.advance(20 * minute);
    await sweep();
  }
  expect(psp.asked.length).toBeGreaterThan(0);
  expect(run).toHaveBeenCalledTimes(1);
  expect(psp.run).toHaveBeenCalledTimes(1);
});

test('an effect that the sweeper was not told of stays open, and is not asked about', async () => {
  const { clock, crash, psp, sweep, record, name } = charging();
  await crash();
  clock.advance(settled);
  const { open } = await sweep([]);
  expect(open).toMatchObject([{ why: 'no-effect', effect: name }]);
  expect(record()).toMatchObject({ state: 'in-doubt', asked: 1 });
  expect(psp.asked).toEqual([]);
});

describe('rule 8: a released record with an open effect', () => {
  /** Its handler had ended, by the failure of the effect, and nobody retries. */
  async function released(options: PaymentOptions = {}) {
    const charged = charging({ onFailure: 'release', ...options });
    charged.psp.isUp = false;
    await expect(charged.pay()).rejects.toThrow('connection lost');
    expect(charged.record().state).toBe('released');
    return charged;
  }

  test('is swept when its effect has settled, not before, and leaves the index decided', async () => {
    const { clock, psp, sweep, record } = await released();
    clock.advance(minute + 3000 - 1);
    expect(await sweep()).toEqual(nothing);
    clock.advance(1);
    expect(await sweep()).toMatchObject({ examined: 1, settling: 1 });
    clock.advance(1);
    expect(await sweep()).toEqual({ ...nothing, examined: 1, released: 1 });
    expect(record().state).toBe('released');
    expect(record().dueAt).toBeUndefined();
    expect(await sweep()).toEqual(nothing);
    expect(psp.asked).toHaveLength(2);
  });

  test('is in doubt over what nobody knows, and free when it is known, though the operation holds', async () => {
    const { clock, psp, sweep, record, entry, pay } = await released({ onLapse: 'hold' });
    psp.says = () => 'unknown';
    clock.advance(2 * minute);
    expect(await sweep()).toMatchObject({ inDoubt: 1, open: [{ why: 'unknown' }] });
    expect(record()).toMatchObject({ state: 'in-doubt', asked: 1 });
    psp.says = (token) => ({ found: { charge: token } });
    clock.advance(minute);
    expect(await sweep()).toMatchObject({ released: 1 });
    expect(entry()).toContain('"state":"done"');
    expect(record().dueAt).toBeUndefined();
    expect(await pay()).toMatchObject({ charge: expect.any(String) });
    expect(psp.charges).toEqual([]);
  });

  test('does not expire before it is decided', async () => {
    const { clock, psp, sweep, pay, run } = await released({ retention: { minutes: 5 } });
    psp.says = () => 'unknown';
    clock.advance(60 * minute);
    expect(await sweep()).toMatchObject({ inDoubt: 1 });
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    expect(run).toHaveBeenCalledTimes(1);
  });
});
