import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, inject, vi } from 'vitest';
import { transactional as test } from '../support/orders.ts';
import { freshTable } from '../support/table.ts';
import { startWorker } from '../support/workers.ts';
import { booking, type CommitOrder } from '../support/workers-booking.ts';

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  return () => vi.unstubAllEnvs();
});

test.each<[CommitOrder['claim'], 'before' | 'after', number, string]>([
  ['first', 'before', 0, 'attempt 2'],
  ['first', 'after', 2, 'attempt 1'],
  ['at-commit', 'before', 0, 'attempt 1'],
  ['at-commit', 'after', 2, 'attempt 1'],
])(
  'claim %s, killed %s the transaction: %i of 2 items, and the retry comes out right',
  async (claim, dies, written, answer) => {
    const [once, business] = await Promise.all([freshTable(), freshTable()]);
    const order = {
      endpoint: inject('engine').endpoint,
      once: once.tableName,
      business: business.tableName,
      claim,
      dies,
    };
    const worker = startWorker('commit-worker.ts');
    worker.tell(order);
    expect(await worker.hear()).toEqual({ stopped: true });
    await worker.kill();
    expect(await business.items()).toHaveLength(written);
    await sleep(650);
    const retry = booking(order, (store) => store);
    expect([await retry(), await retry()]).toEqual([answer, answer]);
    expect(await business.items()).toHaveLength(2);
    expect(await once.records()).toMatchObject([{ state: 'completed' }]);
  },
);
