import { expect, test, vi } from 'vitest';
import { dynamoStore, IdempotencyError, type LapsedClaim, type Store } from '../../src/index.ts';
import type { SweepReport } from '../../src/sweeper.ts';
import { idOf, inMemory, nothing, payments, settled, sweeper } from './support.ts';

/** Orders that died; what happened to one of them is told. */
async function crashed(names: readonly string[], answer: (claim: LapsedClaim) => unknown) {
  const memory = inMemory();
  const reconcile = (claim: LapsedClaim) => answer(claim) as 'absent';
  const { crash, ...operation } = payments(memory.store, { onLapse: reconcile });
  for (const name of names) await crash(name);
  memory.clock.advance(settled);
  return { ...memory, ...operation, told: { operations: { pay: reconcile } } };
}

const bad = idOf('bad');
const names = ['o-1', 'o-2', 'bad', 'o-3', 'o-4'];
const broken = (): never => {
  throw new IdempotencyError('store', 'The table is throttled.');
};

test('W05: one record whose reconcile throws does not stop the rest', async () => {
  const { store, told, pay } = await crashed(names, ({ id }) => {
    if (id === bad) throw new TypeError('undefined is not a function');
    return { found: 'there' };
  });
  const report = await sweeper({ store, ...told, concurrency: 1 })();
  expect(report).toMatchObject({ examined: 5, completed: 4, inDoubt: 1, failed: 0 });
  expect(report.open).toMatchObject([{ id: bad, why: 'failed' }]);
  expect(await pay('o-4')).toBe('there');
});

test.each(['read', 'write'] as const)(
  'W05: one record that cannot be %s is counted as failed and does not stop the rest',
  async (what) => {
    const { store, told, records } = await crashed(names, () => ({ found: 'there' }));
    const [read, write]: [Store['read'], Store['write']] = [store.read.bind(store), store.write.bind(store)];
    const failing: Store = {
      ...store,
      read: async (id, limits) => (what === 'read' && id === bad ? broken() : read(id, limits)),
      write: async (transition, limits) =>
        what === 'write' && 'seen' in transition && transition.seen.id === bad
          ? broken()
          : write(transition, limits),
    };
    const before = records.get(bad);
    expect(await sweeper({ ...told, store: failing, concurrency: 1 })()).toEqual({
      ...nothing,
      examined: 5,
      completed: 4,
      failed: 1,
    });
    expect(records.get(bad)).toEqual(before);
    // a later pass takes it up
    expect(await sweeper({ ...told, store })()).toEqual({ ...nothing, examined: 1, completed: 1 });
  },
);

test('W05: when what is due cannot be listed, the report is logged, then the pass throws', async () => {
  const logged: SweepReport[] = [];
  const refuse = vi.fn(async () => {
    throw Object.assign(new Error('User is not authorized'), { name: 'AccessDeniedException' });
  });
  const sweep = sweeper({
    store: dynamoStore({ tableName: 'once', client: { send: refuse } }),
    log: (report) => logged.push(report),
  });
  await expect(sweep()).rejects.toMatchObject({ name: 'IdempotencyError', code: 'store', status: 503 });
  expect(logged).toEqual([nothing]);
  expect(refuse).toHaveBeenCalledTimes(1);
});

test('W05: when the list breaks off, what was done until then is in the report', async () => {
  const { store, told } = await crashed(names, () => ({ found: 'there' }));
  const logged: SweepReport[] = [];
  const due: Store['due'] = async function* (before, limits) {
    yield* store.due(before, limits);
    broken();
  };
  const sweep = sweeper({ ...told, store: { ...store, due }, log: (report) => logged.push(report) });
  await expect(sweep()).rejects.toMatchObject({ code: 'store' });
  expect(logged).toEqual([{ ...nothing, examined: 5, completed: 5 }]);
});

test('a sweeper without a table to look into says which option is missing', async () => {
  vi.stubEnv('LAMBDA_ONCE_TABLE', '');
  await expect(sweeper({ store: dynamoStore() })()).rejects.toMatchObject({
    code: 'options',
    message: expect.stringContaining('LAMBDA_ONCE_TABLE'),
  });
  vi.unstubAllEnvs();
});

test.each([
  ['throws', () => broken()],
  ['rejects', () => Promise.reject(new Error('no log today'))],
])('a log that %s changes nothing', async (_, log) => {
  const { store, told } = await crashed(['o-1'], () => ({ found: 'there' }));
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  expect(await sweeper({ ...told, store, log: log as () => void })()).toMatchObject({ completed: 1 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(warned).toHaveBeenCalledWith(expect.stringContaining('"log" failed'));
  warned.mockRestore();
});
