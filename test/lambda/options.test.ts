import { expect, test } from 'vitest';
import { defineEffect, type IdempotencyError, type Store } from '../../src/index.ts';
import { type SweepOptions, sweepHandler } from '../../src/sweeper.ts';
import { memoryStore } from '../../src/testing.ts';

const store = memoryStore();
const effectOf = (name: string) =>
  defineEffect({ name, run: async () => 1, reconcile: () => 'unknown' as const });
const charge = effectOf('options-charge');
const lapse = "'hold', 'rerun', a function, or { reconcile, settleAfter }";
const effects = 'a list of effects made by defineEffect, each name once';

/** What the construction threw. */
function refusalOf(options: unknown): IdempotencyError {
  try {
    sweepHandler(options as SweepOptions);
  } catch (error) {
    return error as IdempotencyError;
  }
  throw new Error('it was accepted');
}

const refused: [what: string, options: object, option: string, accepts: string][] = [
  ['no store', {}, 'store', 'a store, such as dynamoStore()'],
  ['a table name for a store', { store: 'once' }, 'store', 'a store, such as dynamoStore()'],
  [
    'an unknown name',
    { store, operation: 'pay' },
    'operation',
    'concurrency, effects, log, observe, operations, store',
  ],
  ['a misspelled name', { store, concurency: 2 }, 'concurency', 'known options'],
  ['two effects of one name', { store, effects: [charge, effectOf('options-charge')] }, 'effects', effects],
  ['one effect twice', { store, effects: [charge, charge] }, 'effects', effects],
  ['effects that are no list', { store, effects: charge }, 'effects', effects],
  ['effects that are none', { store, effects: [{ name: 'charge-card', run() {} }] }, 'effects', effects],
  ['effects by hand', { store, effects: [{ name: 'a', run() {}, reconcile() {} }] }, 'effects', effects],
  ['a hole among effects', { store, effects: [null] }, 'effects', effects],
  ['an operation of another word', { store, operations: { pay: 'retry' } }, 'operations', lapse],
  ['an operation without reconcile', { store, operations: { pay: {} } }, 'operations', lapse],
  [
    'an operation with a bare number',
    { store, operations: { pay: { reconcile() {}, settleAfter: 60 } } },
    'operations',
    lapse,
  ],
  [
    'an operation that settles for days',
    { store, operations: { pay: { reconcile() {}, settleAfter: { days: 2 } } } },
    'operations',
    lapse,
  ],
  [
    'an operation with an unknown option',
    { store, operations: { pay: { reconcile() {}, key: 'k' } } },
    'operations',
    lapse,
  ],
  ['a good operation and a bad one', { store, operations: { pay: 'hold', ship: null } }, 'operations', lapse],
  ['operations that are a word', { store, operations: 'hold' }, 'operations', lapse],
  ['concurrency 0', { store, concurrency: 0 }, 'concurrency', 'a whole number from 1 to 100'],
  ['concurrency 101', { store, concurrency: 101 }, 'concurrency', 'a whole number from 1 to 100'],
  ['concurrency 2.5', { store, concurrency: 2.5 }, 'concurrency', 'a whole number from 1 to 100'],
  ['concurrency in letters', { store, concurrency: '5' }, 'concurrency', 'a whole number from 1 to 100'],
  ['concurrency NaN', { store, concurrency: Number.NaN }, 'concurrency', 'a whole number from 1 to 100'],
  ['an observer that is none', { store, observe: console }, 'observe', 'a function'],
  ['a log that is none', { store, log: 'json' }, 'log', 'a function'],
];

test.each(refused)('%s is refused, naming the option and what it accepts', (_, options, option, accepts) => {
  const { code, message } = refusalOf(options);
  expect(code).toBe('options');
  expect(message).toMatch(/^sweepHandler: /);
  expect(message).toContain(`option "${option}"`);
  expect(message).toContain(accepts);
});

test.each([
  ['a list of operations', { store, operations: ['hold'] }],
  ['a map of operations, whose entries nobody would see', { store, operations: new Map([['pay', 'hold']]) }],
])('%s is refused', (_, options) => {
  expect(refusalOf(options).message).toContain('option "operations"');
});

test('a store that cannot list what is due is refused at construction, not at night', () => {
  const old = { ...store, due: undefined };
  expect(refusalOf({ store: old as unknown as Store }).message).toContain('option "store"');
});

test.each([[undefined], [null], ['once'], [[]]])('%j instead of options is refused', (options) => {
  expect(refusalOf(options)).toMatchObject({ code: 'options' });
});

test('everything at its limits is taken', () => {
  for (const concurrency of [1, 100, undefined]) {
    const operations = {
      pay: 'hold',
      ship: { reconcile: () => 'unknown' as const, settleAfter: { days: 1 } },
    } as const;
    const all = { store, effects: [charge], operations, concurrency, observe() {}, log() {} };
    expect(sweepHandler(all)).toBeTypeOf('function');
  }
  expect(sweepHandler({ store, effects: [], operations: {} })).toBeTypeOf('function');
});
