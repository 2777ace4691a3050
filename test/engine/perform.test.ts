import { expect, test } from 'vitest';
import type { OnceRecord } from '../../src/domain/record.ts';
import { type Claim, defineEffect, type Effect, idempotent, type OnceEvent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';

const start = 1_900_000_000_000;
const lease = 10_000;
/** Of the operations here: lapsed a little after the lease, settled a minute after that. */
const lapsed = lease + 3001;
const settled = lapsed + 60_001;

/** A provider without idempotency keys, and an operation that charges there once. */
function world() {
  const clock = { now: start };
  const records = new Map<string, OnceRecord>();
  const charges: string[] = [];
  const events: OnceEvent[] = [];
  const asked: unknown[] = [];
  let answer: () => unknown = () => {
    const found = charges.find((token) => token !== '');
    return found === undefined ? 'absent' : { found: { chargeId: found } };
  };
  const store = memoryStore({ now: () => clock.now, records });
  return {
    clock,
    charges,
    events,
    asked,
    store,
    say: (next: () => unknown) => {
      answer = next;
    },
    record: () => [...records.values()][0] as OnceRecord,
    effect: (
      run: (charge: (token: string) => { chargeId: string }, context: RunContext) => unknown,
    ): Charge =>
      defineEffect({
        name: `charge-${crypto.randomUUID()}`,
        run: (_input: { amount: number }, context) =>
          run((token) => {
            charges.push(token);
            return { chargeId: token };
          }, context) as { chargeId: string },
        reconcile: (input, context) => {
          asked.push({ input, ...context });
          return answer() as 'absent';
        },
      }),
    operation: (work: (claim: Claim) => Promise<unknown>, onLapse: 'hold' | 'rerun' = 'rerun') => {
      const once = idempotent(async (_input: { id: string }, claim) => work(claim), {
        store,
        operation: `pay-${crypto.randomUUID()}`,
        key: ({ id }) => id,
        lease: { milliseconds: lease },
        onLapse,
        observe: (event) => events.push(event),
      });
      return () => once({ id: 'o-1' });
    },
  };
}

type RunContext = Parameters<Charge['run']>[1];
type Charge = Effect<{ amount: number }, { chargeId: string }>;
const order = { amount: 1200 };
const crash = () => new Promise<never>(() => {});

test('an effect that is done is not run again: its stored result is', async () => {
  const { effect, operation, charges, record } = world();
  const charge = effect((make, { token }) => make(token));
  let fails = true;
  const pay = operation(async (claim) => {
    const paid = await claim.perform(charge, order);
    if (fails) throw new Error('after the charge');
    return paid;
  });
  await expect(pay()).rejects.toThrow('after the charge');
  expect(record()).toMatchObject({ state: 'released' });
  expect(record().dueAt).toBeUndefined();
  fails = false;
  expect(await pay()).toEqual({ chargeId: charges[0] });
  expect(charges).toHaveLength(1);
  expect(record()).toMatchObject({ state: 'completed', attempt: 2 });
});

test('begun and never heard of: found is journalled and returned, before the handler runs', async () => {
  const { effect, operation, charges, clock, asked } = world();
  const charge = effect((make, { token }) => {
    make(token);
    return crash();
  });
  const seen: number[] = [];
  const pay = operation(async (claim) => {
    seen.push(asked.length);
    return claim.perform(charge, order);
  });
  void pay();
  await new Promise((resolve) => setImmediate(resolve));
  clock.now += lapsed;
  expect(await pay()).toEqual({ chargeId: charges[0] });
  expect(charges).toHaveLength(1);
  expect(seen).toEqual([0, 1]);
});

test('begun and absent: in doubt until it has settled, then it runs again under the same token', async () => {
  const { effect, operation, charges, clock, record } = world();
  let fails = true;
  const tokens: string[] = [];
  const charge = effect((make, { token }) => {
    tokens.push(token);
    if (fails) throw new Error('connection lost');
    return make(token);
  });
  const pay = operation((claim) => claim.perform(charge, order));
  await expect(pay()).rejects.toThrow('connection lost');
  expect(record()).toMatchObject({ state: 'released' });
  expect(record().dueAt).toBe(start + 63_000);
  fails = false;
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  expect(record()).toMatchObject({ state: 'in-doubt', doubtOf: 'effects' });
  clock.now = start + 63_000;
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  clock.now += 1;
  expect(await pay()).toEqual({ chargeId: charges[0] });
  expect(new Set(tokens).size).toBe(1);
  expect(charges).toHaveLength(1);
  void settled;
});
