import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Transition } from '../../src/domain/transition.ts';
import type { Store } from '../../src/index.ts';
import { Clock } from '../support/clock.ts';
import { freshTable } from '../support/table.ts';
import { Host, idOf, lapsed, nothing, order, payments, provider, settled, sweeper } from './support.ts';

const table = await freshTable();
const clock = new Clock();
const store = table.store({ now: clock.now });
let count = 0;
let key = '';
beforeEach(() => {
  count += 1;
  key = `o-${count}`;
});

/** A sweeper that is overtaken: what it decided is right before its write when this happens. */
function overtaken(happens: () => Promise<unknown>): { store: Store; writes: Transition['kind'][] } {
  const writes: Transition['kind'][] = [];
  const write: Store['write'] = async (transition, limits) => {
    writes.push(transition.kind);
    if (writes.length === 1) await happens();
    return store.write(transition, limits);
  };
  return { store: { ...store, write }, writes };
}

/** A handler that waits until the test lets it go on, so that it may be late. */
function waiting(): { readonly arrived: Promise<void>; go(): void; readonly wait: () => Promise<void> } {
  const [arrival, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const wait = async (): Promise<void> => {
    arrival.resolve();
    await leave.promise;
  };
  return { arrived: arrival.promise, go: () => leave.resolve(), wait };
}

/** Each of them is one write of the sweeper's. */
const verdicts: [string, unknown, Transition['kind']][] = [
  ['found', { found: 'by the sweeper' }, 'resolve'],
  ['absent', 'absent', 'resolve'],
  ['unknown', 'unknown', 'doubt'],
];
const skipped = { ...nothing, examined: 1, skipped: 1 };
const recordNow = async (id = idOf(key)) => (await table.records()).find((record) => record.id === id);

describe.each(verdicts)('W02: between what is read and what is written, %s', (_, answer, kind) => {
  const reconcile = () => answer as 'absent';
  const told = { operations: { pay: reconcile } };

  test('its late owner completes: the answer stays, the record counts as skipped', async () => {
    const late = waiting();
    const { pay } = payments(store, {
      onLapse: reconcile,
      work: async () => {
        await late.wait();
        return 'by its owner';
      },
    });
    const first = pay(key);
    await late.arrived;
    clock.advance(settled);
    const overtaking = overtaken(async () => {
      late.go();
      await first;
    });
    expect(await sweeper({ ...told, store: overtaking.store })()).toEqual(skipped);
    expect(overtaking.writes).toEqual([kind]);
    expect(await recordNow()).toMatchObject({ state: 'completed', attempt: 1 });
    expect(await pay(key)).toBe('by its owner');
  });

  test('a retry takes it over and is running: its claim is not touched', async () => {
    const { crash } = payments(store, { onLapse: reconcile });
    await crash(key);
    clock.advance(settled);
    const running = waiting();
    const { pay } = payments(store, {
      onLapse: 'rerun',
      work: async () => {
        await running.wait();
        return 'by the retry';
      },
    });
    let retry: Promise<unknown> | undefined;
    const overtaking = overtaken(async () => {
      retry = pay(key);
      await running.arrived;
    });
    expect(await sweeper({ ...told, store: overtaking.store })()).toEqual(skipped);
    expect(overtaking.writes).toEqual([kind]);
    expect(await recordNow()).toMatchObject({ state: 'claimed', attempt: 2 });
    running.go();
    expect(await retry).toBe('by the retry');
    expect(await recordNow()).toMatchObject({ state: 'completed' });
  });

  test('it is released and claimed again: the new claim is not touched', async () => {
    const { crash } = payments(store, { onLapse: reconcile });
    await crash(key);
    clock.advance(settled);
    const { pay, run } = payments(store, { onLapse: 'hold' });
    const overtaking = overtaken(async () => {
      const decided = { operation: 'pay', scope: 'none', key, by: 'ops', why: 'seen' };
      await store.resolve({ ...decided, as: 'released' });
      await pay(key);
    });
    expect(await sweeper({ ...told, store: overtaking.store })()).toEqual(skipped);
    expect(run).toHaveBeenCalledTimes(1);
    expect(await recordNow()).toMatchObject({ state: 'completed', attempt: 2 });
    expect(await pay(key)).toBe('attempt 2');
  });
});

test.each<[string, unknown, Transition['kind']]>([
  ['found', { found: { charge: 'by the sweeper' } }, 'resolve'],
  ['absent', 'absent', 'resolve'],
  ['unknown', 'unknown', 'doubt'],
])(
  "W02: its late owner journals the end of its effect first, %s: the owner's entry stays",
  async (_, answer, kind) => {
    const host = new Host();
    const psp = provider(host);
    const [sent, rest] = [waiting(), waiting()];
    const charge = psp.effect({ also: sent.wait });
    const { pay } = payments(store, {
      onLapse: 'rerun',
      work: async (claim) => {
        const paid = await claim.perform(charge, order);
        await rest.wait();
        return paid;
      },
    });
    const first = pay(key);
    await sent.arrived;
    clock.advance(settled);
    psp.says = () => answer;
    const overtaking = overtaken(async () => {
      sent.go();
      await rest.arrived;
    });
    expect(await sweeper({ store: overtaking.store, effects: [charge] })()).toEqual(skipped);
    expect(overtaking.writes).toEqual([kind]);
    expect((await recordNow())?.effects?.[charge.name]).toContain(`"state":"done"`);
    rest.go();
    expect(await first).toEqual({ charge: psp.charges[0] });
    expect(await pay(key)).toEqual({ charge: psp.charges[0] });
    expect(psp.charges).toHaveLength(1);
  },
);

test('W02: what was settled between the list and the read is skipped, and nobody is asked', async () => {
  const reconcile = vi.fn(() => 'absent' as const);
  const { crash, pay } = payments(store, { onLapse: 'rerun' });
  await crash(key);
  clock.advance(settled);
  const read: Store['read'] = async (id, limits) => {
    await pay(key);
    return store.read(id, limits);
  };
  const sweep = sweeper({ store: { ...store, read }, operations: { pay: reconcile } });
  expect(await sweep()).toEqual(skipped);
  expect(reconcile).not.toHaveBeenCalled();
  expect(await recordNow()).toMatchObject({ state: 'completed', attempt: 2 });
});

test.each<[string, unknown, unknown]>([
  ['completed', { found: 'charge 7' }, { value: 'charge 7' }],
  ['released', 'absent', { code: 'lease-lost' }],
])('an owner that comes after the sweeper has %s it is shut out', async (state, answer, gets) => {
  const late = waiting();
  const reconcile = () => answer as 'absent';
  const { pay } = payments(store, {
    onLapse: reconcile,
    work: async () => {
      await late.wait();
      return 'too late';
    },
  });
  const first = pay(key).then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  await late.arrived;
  clock.advance(settled);
  expect(await sweeper({ store, operations: { pay: reconcile } })()).toMatchObject({ [state]: 1 });
  late.go();
  expect(await first).toMatchObject(gets as object);
  expect(await recordNow()).toMatchObject({ state });
});

test('what the sweeper has put in doubt its late owner may still complete', async () => {
  const late = waiting();
  const { pay } = payments(store, {
    work: async () => {
      await late.wait();
      return 'late, but there';
    },
  });
  const first = pay(key);
  await late.arrived;
  clock.advance(lapsed);
  expect(await sweeper({ store })()).toMatchObject({ inDoubt: 1 });
  late.go();
  expect(await first).toBe('late, but there');
  expect(await pay(key)).toBe('late, but there');
  expect(await recordNow()).toMatchObject({ state: 'completed' });
});
