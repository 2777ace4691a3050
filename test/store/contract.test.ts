import { afterAll, inject } from 'vitest';
import { toRecord } from '../../src/store/dynamo/item.ts';
import { memoryStore } from '../../src/testing.ts';
import { type Engine, startEngine } from '../../tools/local/engine.ts';
import { storeContract } from '../support/contract.ts';
import { type StoreUnderTest, start } from '../support/contract-records.ts';
import { engineClient, freshTable } from '../support/table.ts';

storeContract('memory', async () => {
  const clock = { now: start };
  const records = new Map();
  return {
    clock,
    store: memoryStore({ now: () => clock.now, records }),
    put: async (record) => void records.set(record.id, record),
    get: async (id) => records.get(id),
  };
});

const { kind, endpoint } = inject('engine');
storeContract(kind, () => onTable(endpoint));

if (kind === 'dynalite') {
  console.log(
    'store contract: not run on dynoxide, because its binary is not installed here; dynalite serves',
  );
} else {
  // it accepts ALL_OLD and returns no item: the way through the read that follows
  let engine: Engine | undefined;
  storeContract('dynalite', async () => {
    engine = await startEngine({ kind: 'dynalite' });
    return onTable(engine.endpoint);
  });
  afterAll(() => engine?.stop());
}

async function onTable(url: string): Promise<StoreUnderTest> {
  const clock = { now: start };
  const table = await freshTable(engineClient(url));
  return {
    clock,
    store: table.store({ now: () => clock.now }),
    put: (record) => table.put(record),
    get: async (id) => toRecord(await table.item(id)),
  };
}
