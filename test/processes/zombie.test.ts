import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { apply, targetOf } from '../../src/domain/transition.ts';
import { defineEffect, idempotent, type Store } from '../../src/index.ts';
import { freshTable, type TestTable } from '../support/table.ts';
import { startWorker } from '../support/workers.ts';
import type { Act } from './zombie-worker.ts';

/** Milliseconds: as the worker has them. */
const lease = 500;
const skew = 20;

interface Told {
  readonly told: string;
  readonly runs: number;
}

/** A process is stopped in the middle of its work until somebody else has taken over and done it, and then goes on. */
async function wakeTooLate(act: Act): Promise<Told & { table: TestTable; before: unknown[] }> {
  const table = await freshTable();
  const worker = startWorker('zombie-worker.ts');
  worker.tell({ endpoint: inject('engine').endpoint, tableName: table.tableName, act });
  await worker.hear();
  worker.signal('SIGSTOP');
  await sleep(lease + skew + 50);
  expect(await successor(table.store())({})).toBe('successor');
  const before = await table.items();
  worker.signal('SIGCONT');
  worker.tell({ go: true });
  return { ...(await worker.hear<Told>()), table, before };
}

/** The attempt that takes over. The provider tells it what the stopped one had begun. */
function successor(store: Store): (input: object) => Promise<string> {
  const effect = defineEffect({
    name: 'charge',
    run: () => 'successor',
    reconcile: () => ({ found: 'successor' }),
  });
  return idempotent((_input: object, claim) => claim.perform(effect, {}), {
    store,
    operation: 'zombie',
    key: () => 'k',
    lease: { seconds: 30 },
    skew: { milliseconds: skew },
    onLapse: 'rerun',
  });
}

test.each<[Act, string, number]>([
  ['complete', 'successor', 0],
  ...(inject('engine').transactions ? [['commit', 'successor', 0] as [Act, string, number]] : []),
  ['release', 'a passing failure', 0],
  ['capture', 'lease-lost', 0],
  ['begin', 'lease-lost', 0],
  ['run', 'lease-lost', 0],
  ['reference', 'lease-lost', 1],
  ['done', 'lease-lost', 1],
])(
  'S04 S05: a zombie stopped before its %s is told "%s", sends nothing new and changes nothing',
  async (act, told, runs) => {
    const woken = await wakeTooLate(act);
    expect({ told: woken.told, runs: woken.runs }).toEqual({ told, runs });
    expect(await woken.table.items()).toEqual(woken.before);
    const completed = { state: 'completed', attempt: 2, outcome: '1v"successor"' };
    expect(await woken.table.records()).toMatchObject([completed]);
  },
);

test('negative control: a store that writes without conditions lets a late owner overwrite its successor', async () => {
  const table = await freshTable();
  const store = table.store();
  const careless: Store = {
    ...store,
    write: async (transition) => {
      await table.put(apply(transition, await store.read(targetOf(transition), { budget: 1000 })));
      return { kind: 'applied' };
    },
  };
  const stopped = Promise.withResolvers<void>();
  const late = idempotent(
    async (_input: object) => {
      await stopped.promise;
      return 'zombie';
    },
    {
      store: careless,
      operation: 'zombie',
      key: () => 'k',
      lease: { milliseconds: lease },
      skew: { milliseconds: skew },
    },
  )({});
  await sleep(lease + skew + 50);
  expect(await successor(store)({})).toBe('successor');
  stopped.resolve();
  await late;
  expect(await table.records()).toMatchObject([{ outcome: '1v"zombie"' }]);
});
