import { afterEach, expect, test, vi } from 'vitest';
import { metric } from '../../src/names.ts';
import type { SweepReport } from '../../src/sweeper.ts';
import { sweepHandler } from '../../src/sweeper.ts';
import { freshTable } from '../support/table.ts';
import { day, hour, idOf, inMemory, lapsed, nothing, payments, sweeper } from './support.ts';

const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
afterEach(() => printed.mockClear());
/** The same as metrics, each with a value, so that an alarm has data. */
const zeros = Object.fromEntries(
  Object.entries(metric)
    .filter(([name]) => name.startsWith('sweep'))
    .map(([, name]) => [name, 0]),
);

const lines = (): unknown[] => printed.mock.calls.map(([line]) => line);

test('W05: an empty pass logs a report of zeros, in one line of JSON, so that an alarm has data', async () => {
  const { store } = inMemory();
  expect(await sweepHandler({ store })()).toEqual(nothing);
  const [line, ...more] = lines();
  expect(more).toEqual([]);
  expect(line).toMatch(/^\{.*\}$/);
  expect(JSON.parse(String(line))).toMatchObject({ 'lambda-once': 'sweep', ...nothing, ...zeros });
});

test('the line tells the size of the table, as the engine counts it; a size that cannot be had stops nothing', async () => {
  const { store } = inMemory();
  await sweepHandler({ store: { ...store, size: async () => ({ items: 12, bytes: 3456 }) } })();
  const denied = async (): Promise<never> => Promise.reject(new Error('AccessDenied'));
  expect(await sweepHandler({ store: { ...store, size: denied } })()).toEqual(nothing);
  const [known, unknown] = lines().map((line) => JSON.parse(String(line)));
  expect(known).toMatchObject({ [metric.tableItems]: 12, [metric.tableBytes]: 3456 });
  expect(JSON.stringify(known._aws)).toContain(metric.tableBytes);
  expect(unknown).not.toHaveProperty(metric.tableItems);
});

test('W05: an empty table on the engine is the same', async () => {
  expect(await sweepHandler({ store: (await freshTable()).store() })()).toEqual(nothing);
  expect(JSON.parse(String(lines()[0]))).toMatchObject({
    'lambda-once': 'sweep',
    ...nothing,
    ...zeros,
    [metric.tableItems]: 0,
  });
});

test('W03: the line of a pass with open records has id, age and why, in one line, and never the key', async () => {
  const { clock, store } = inMemory();
  const { crash } = payments(store, { onLapse: 'hold' });
  const key = 'jane@example.org "quoted"\nnext line';
  await crash(key);
  clock.advance(lapsed);
  const report = await sweepHandler({ store })();
  const [line] = lines() as string[];
  expect(line).not.toMatch(/[\r\n]/);
  expect(line).not.toContain('jane');
  expect(JSON.parse(line ?? '')).toMatchObject({
    'lambda-once': 'sweep',
    ...report,
    [metric.sweepInDoubt]: 1,
    [metric.sweepOldestAge]: lapsed,
  });
  expect(report.open).toEqual([{ id: idOf(key), operation: 'pay', age: lapsed, why: 'held' }]);
});

test('the log option takes the line over and is given what is returned', async () => {
  const { clock, store } = inMemory();
  await payments(store, { onLapse: 'rerun' }).crash();
  clock.advance(lapsed);
  const logged: SweepReport[] = [];
  const report = await sweeper({ store, log: (each) => logged.push(each) })();
  expect(report).toEqual({ ...nothing, examined: 1, released: 1 });
  expect(logged).toEqual([report]);
  expect(lines()).toEqual([]);
});

test('of 60 open records 50 are listed, all are counted, and the oldest is found', async () => {
  const { clock, store } = inMemory();
  const { crash } = payments(store, { onLapse: 'hold' });
  for (let index = 0; index < 59; index += 1) await crash(`o-${index}`);
  clock.advance(-hour);
  await crash('the oldest, and the last');
  clock.advance(day);
  const { open, ...counts } = await sweeper({ store })();
  expect(counts).toMatchObject({ examined: 60, inDoubt: 60, oldestAge: day });
  expect(open).toHaveLength(50);
  expect(new Set(open.map(({ id }) => id)).size).toBe(50);
});
