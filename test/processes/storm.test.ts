import { expect, inject, test } from 'vitest';
import { freshTable } from '../support/table.ts';
import { startWorker } from '../support/workers.ts';
import type { StormCaller, StormOrder } from './storm-worker.ts';

const processes = 4;
const duplicates = 8;
const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);

/** An effect in the table: its random id, and the key it was for. */
interface Effect {
  readonly id: string | undefined;
  readonly of: string;
}
interface Storm {
  readonly callers: readonly StormCaller[];
  readonly effects: readonly Effect[];
}

/** 100 keys, each delivered 8 times by 4 real processes at once. */
async function storm(store: StormOrder['store']): Promise<Storm> {
  const [table, effects] = [await freshTable(), await freshTable()];
  const workers = Array.from({ length: processes }, () => startWorker('storm-worker.ts'));
  const order: StormOrder = {
    endpoint: inject('engine').endpoint,
    store,
    tableName: table.tableName,
    effectsTable: effects.tableName,
    keys,
    duplicates: duplicates / processes,
  };
  for (const worker of workers) worker.tell(order);
  // nobody begins before all are there
  await Promise.all(workers.map((worker) => worker.hear()));
  for (const worker of workers) worker.tell({ go: true });
  const reports = await Promise.all(workers.map((worker) => worker.hear<{ callers: StormCaller[] }>()));
  await Promise.all(workers.map((worker) => worker.kill()));
  return {
    callers: reports.flatMap(({ callers }) => callers),
    effects: (await effects.items()).map(({ id, of }) => ({ id: id?.S, of: of?.S ?? '' })),
  };
}

/** Milliseconds, for a busy machine: under the wrong store some callers never get an answer and try 200 times. */
const patience = 90_000;

const byText = (one: string, other: string): number => one.localeCompare(other);

/** What a store owes: one effect per key, and every caller has its answer. */
function checkStorm({ callers, effects }: Storm): void {
  expect(effects.map(({ of }) => of).toSorted(byText), 'effects').toEqual(keys.toSorted(byText));
  expect(callers).toHaveLength(keys.length * duplicates);
  for (const { key, body, statuses } of callers) {
    expect(statuses.at(-1), `last status for ${key}`).toBe(201);
    const refusals = statuses.slice(0, -1).filter((status) => status !== 409 && status !== 503);
    expect(refusals, `statuses before it for ${key}`).toEqual([]);
    expect(body, `answer for ${key}`).toBe(effects.find(({ of }) => of === key)?.id);
  }
  expect(
    callers.filter(({ isReplay }) => !isReplay),
    'callers whose own run it was',
  ).toHaveLength(keys.length);
}

test(
  'P05 S01: 800 deliveries of 100 keys from four processes at once make exactly 100 effects',
  async () => {
    checkStorm(await storm('real'));
  },
  patience,
);

test(
  'negative control: the same storm on a store that reads and then writes makes more, and the check sees it',
  async () => {
    const broken = await storm('read-then-write');
    expect(broken.effects.length).toBeGreaterThan(keys.length);
    expect(() => checkStorm(broken)).toThrow(/effects/);
  },
  patience,
);
