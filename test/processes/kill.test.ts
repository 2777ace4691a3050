import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, inject, test, vi } from 'vitest';
import { freshTable, type TestTable } from '../support/table.ts';
import { startWorker } from '../support/workers.ts';
import { type KillOrder, killedOperation } from '../support/workers-killed.ts';

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  return () => vi.unstubAllEnvs();
});

/** A table with a claim in it whose process was killed in the middle of its handler. */
async function afterKill(): Promise<{ table: TestTable; leaseUntil: number; order: KillOrder }> {
  const table = await freshTable();
  const order = { endpoint: inject('engine').endpoint, tableName: table.tableName };
  const worker = startWorker('kill-worker.ts');
  worker.tell(order);
  expect(await worker.hear()).toEqual({ isRunning: true });
  await worker.kill();
  const [record] = await table.records();
  expect(record).toMatchObject({ state: 'claimed', attempt: 1 });
  return { table, order, leaseUntil: record?.leaseUntil ?? 0 };
}

test('L07: a process killed in its handler blocks the key for its lease of 600 ms, not for 24 hours', async () => {
  const { table, leaseUntil, order } = await afterKill();
  let runs = 0;
  const retry = killedOperation(order, 'rerun', async () => (runs += 1));
  const early = await retry('k');
  // on a machine that stood still for longer than the lease there is no early retry to look at
  if (Date.now() < leaseUntil) expect(early.statusCode).toBe(409);
  await sleep(Math.max(0, leaseUntil + 5 - Date.now()));
  expect(await retry('k')).toMatchObject({ statusCode: 201, body: 'attempt 2' });
  expect(await retry('k')).toMatchObject({ statusCode: 201, body: 'attempt 2' });
  expect(runs).toBe(1);
  expect(await table.records()).toMatchObject([{ state: 'completed', attempt: 2 }]);
});

test('L06: where running again is not known to be safe, nobody runs after a kill: in-doubt, again and again', async () => {
  const { table, leaseUntil, order } = await afterKill();
  let runs = 0;
  const retry = killedOperation(order, 'hold', async () => (runs += 1));
  await sleep(Math.max(0, leaseUntil + 5 - Date.now()));
  for (let time = 0; time < 3; time += 1) {
    const answer = await retry('k');
    expect(answer.statusCode).toBe(409);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'in-doubt' });
  }
  expect(runs).toBe(0);
  expect(await table.records()).toMatchObject([{ state: 'in-doubt', attempt: 1 }]);
});
