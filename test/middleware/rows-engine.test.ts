import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { idempotency } from '../../src/index.ts';
import { fronts } from '../support/http.ts';
import { freshTable, type TestTable } from '../support/table.ts';
import { call, kits, problemIn } from './support/middy.ts';
import { gate } from './support/world.ts';

let table: TestTable;
beforeAll(async () => {
  table = await freshTable();
});
afterAll(() => table.client.destroy());

// M01 once more, where bytes are bytes: items of the engine, read past the code under test
describe.each(kits)('the row in the table, Middy $version', (kit) => {
  test('M01: duplicates, mismatches and replays leave the item byte for byte as it was', async () => {
    const key = `k${kit.version}`;
    const post = (body: unknown) => fronts.v1({ key, body });
    const [started, finish] = [gate(), gate()];
    const run = vi.fn(async () => {
      started.open();
      await finish.opened;
      return { statusCode: 201, body: 'A' };
    });
    const chain = kit
      .middy()
      .use(idempotency({ store: table.store(), operation: `place-${kit.version}`, scope: 'none' }))
      .use(kit.cors())
      .use(kit.errorHandler())
      .handler(run);
    const bytes = async () => {
      const items = (await table.items()).filter(({ id }) => id?.S?.startsWith(`place-${kit.version}#`));
      // the engine names an item's attributes in any order
      return JSON.stringify(items.map((item) => Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))));
    };

    const first = call(chain, post(1));
    await started.opened;
    const running = await bytes();
    expect(running).toContain('"claimed"');
    for (const name of ['B', 'C']) {
      const duplicate = await call(chain, post(1));
      expect(problemIn(duplicate), name).toMatchObject({ status: 409, code: 'busy' });
      expect(await bytes(), name).toBe(running);
    }
    finish.open();
    expect(await first).toMatchObject({ statusCode: 201, body: 'A' });
    const completed = await bytes();
    expect(completed).toContain('"completed"');
    expect(problemIn(await call(chain, post(2))), 'D').toMatchObject({ status: 422, code: 'key-reused' });
    expect(await bytes(), 'D').toBe(completed);
    const replay = await call(chain, post(1));
    expect(replay, 'E').toMatchObject({ statusCode: 201, body: 'A' });
    expect(replay.headers).toMatchObject({ 'Idempotency-Replayed': 'true' });
    expect(await bytes(), 'E').toBe(completed);
    expect(run).toHaveBeenCalledTimes(1);
  });
});
