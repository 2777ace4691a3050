import { expect, test } from 'vitest';
import { decodeEntry } from '../../src/domain/journal.ts';
import { type Claim, deriveKey } from '../../src/index.ts';
import {
  type Charge,
  Host,
  inMemory,
  lapsed,
  minute,
  order,
  payments,
  provider,
  sweeper,
} from './support.ts';

/** An order with several effects; each of them is told to the sweeper. */
function charging(work: (claim: Claim) => Promise<unknown>, host: Host, effects: readonly Charge[]) {
  const memory = inMemory();
  const operation = payments(memory.store, { host, onLapse: 'rerun', work });
  const entry = (effect: Charge, index?: number) => {
    const slot = index === undefined ? effect.name : `${effect.name}#${index}`;
    return decodeEntry(memory.record().effects?.[slot] ?? '');
  };
  return { ...memory, ...operation, entry, sweep: sweeper({ store: memory.store, effects }) };
}

test('each that was begun is asked about by its token, index, reference and time; its input where it keeps it', async () => {
  const host = new Host();
  const psp = provider(host);
  const parcel = psp.effect({ also: ({ index, reference }) => reference(`parcel ${index}`) });
  const charge = psp.effect({ keepInput: true });
  const { clock, crash, sweep, record } = charging(
    (claim) =>
      Promise.all([
        claim.perform(parcel, order, 0),
        claim.perform(parcel, order, 1),
        claim.perform(charge, order),
      ]),
    host,
    [parcel, charge],
  );
  const begunAt = new Date(clock.now());
  await crash('o-1', 3);
  clock.advance(lapsed);
  expect(await sweep()).toMatchObject({ released: 1 });
  const { id } = record();
  const asked = psp.asked.map(({ input, context: { signal: _signal, ...context } }) => ({
    input,
    ...context,
  }));
  expect(asked).toHaveLength(3);
  for (const index of [0, 1]) {
    const token = deriveKey(id, parcel.name, index);
    expect(asked).toContainEqual({ input: undefined, token, index, reference: `parcel ${index}`, begunAt });
  }
  const token = deriveKey(id, charge.name);
  expect(asked).toContainEqual({ input: order, token, index: undefined, reference: undefined, begunAt });
  expect(psp.charges.toSorted()).toEqual(asked.map((question) => question.token).toSorted());
});

test('found beside unknown: the one is journalled, the other keeps the record in doubt under its name', async () => {
  const host = new Host();
  const [one, other] = [provider(host), provider(host)];
  const [known, unknown] = [one.effect(), other.effect()];
  const { clock, crash, pay, sweep, entry, record } = charging(
    async (claim) =>
      (await Promise.allSettled([claim.perform(known, order), claim.perform(unknown, order)])).length,
    host,
    [known, unknown],
  );
  other.says = () => 'unknown';
  await crash('o-1', 2);
  clock.advance(lapsed);
  expect(await sweep()).toMatchObject({ inDoubt: 1, open: [{ why: 'unknown', effect: unknown.name }] });
  expect([entry(known).state, entry(unknown).state]).toEqual(['done', 'begun']);
  other.says = (token) => ({ found: { charge: token } });
  clock.advance(minute);
  expect(await sweep()).toMatchObject({ released: 1 });
  expect(record().state).toBe('released');
  expect(await pay()).toBe(2);
  expect([one.charges.length, other.charges.length]).toEqual([1, 1]);
  expect(one.asked).toHaveLength(1);
});

test('found beside one that settles: the one is journalled, the other due when it has settled', async () => {
  const host = new Host();
  const [one, other] = [provider(host), provider(host)];
  other.isUp = false;
  const [known, late] = [one.effect(), other.effect()];
  const { clock, crash, sweep, entry, record } = charging(
    async (claim) => Promise.all([claim.perform(known, order), claim.perform(late, order)]),
    host,
    [known, late],
  );
  await crash('o-1', 2);
  clock.advance(lapsed);
  expect(await sweep()).toMatchObject({ examined: 1, released: 0, open: [{ why: 'settling' }] });
  expect([entry(known).state, entry(late).state]).toEqual(['done', 'begun']);
  expect(record().dueAt).toBe(clock.now() + minute);
  clock.advance(minute);
  expect(await sweep()).toMatchObject({ released: 1 });
});
