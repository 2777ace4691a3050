import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, expect, test, vi } from 'vitest';
import { dynamoStore, idempotent, type Store } from '../../src/index.ts';
import { lossyEngine } from '../support/lossy-proxy.ts';
import { engineClient, freshTable } from '../support/table.ts';

const proxy = await lossyEngine();
const table = await freshTable();
const credentials = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
const unknown = { operation: 'place-order', scope: 'none', key: 'nobody' };
afterEach(() => vi.unstubAllEnvs());

/** A whole life on a store: run, replay, release, run again. Its answers. */
async function live(store: Store, operation: string): Promise<unknown[]> {
  let runs = 0;
  const once = idempotent(
    async ({ fails }: { id: string; fails?: boolean }) => {
      runs += 1;
      if (fails && runs === 2) throw new Error('a passing failure');
      return `run ${runs}`;
    },
    { store, operation, key: ({ id }) => id },
  );
  const first = [await once({ id: 'a' }), await once({ id: 'a' })];
  await expect(once({ id: 'b', fails: true })).rejects.toThrow('a passing failure');
  return [...first, await once({ id: 'b', fails: true })];
}

const lived = ['run 1', 'run 1', 'run 3'];

test('P09: importing the package and building a store needs no region, no credentials, no table', async () => {
  const index = new URL('../../src/index.ts', import.meta.url).href;
  const script = `
    const { dynamoStore } = await import(${JSON.stringify(index)});
    const store = dynamoStore();
    console.log(typeof store.write, process.getActiveResourcesInfo().filter((name) => /TCP|Timeout/.test(name)).length);
    await store.lookup(${JSON.stringify(unknown)}).catch((error) => console.log(error.code, error.message));`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env: {} });
  const { stdout, stderr } = await run;
  const [built, failed] = stdout.trim().split('\n');
  expect(built).toBe('function 0');
  expect(failed).toBe('options No table: give dynamoStore({ tableName }) or set LAMBDA_ONCE_TABLE.');
  expect(stderr).toBe('');
});

test('the table is read from LAMBDA_ONCE_TABLE when the first request comes, not when the store is built', async () => {
  const store = dynamoStore({ client: table.client });
  await expect(store.lookup(unknown)).rejects.toMatchObject({ code: 'options' });
  vi.stubEnv('LAMBDA_ONCE_TABLE', table.tableName);
  expect(await store.lookup(unknown)).toBeUndefined();
  vi.stubEnv('LAMBDA_ONCE_TABLE', '');
  await expect(store.lookup(unknown)).rejects.toMatchObject({ code: 'options' });
});

test('a table that is missing from the options is told before anything is sent', async () => {
  let runs = 0;
  const once = idempotent(async () => (runs += 1), {
    store: dynamoStore({ endpoint: proxy.endpoint, region: 'us-east-1' }),
    operation: 'no-table',
    key: () => 'k',
  });
  await expect(once(1)).rejects.toMatchObject({
    code: 'options',
    message: expect.stringContaining('No table'),
  });
  expect(proxy.requests).toHaveLength(0);
  expect(runs).toBe(0);
});

test('our own client is built once, with the first request, and says who it is', async () => {
  const store = dynamoStore({ tableName: table.tableName, endpoint: proxy.endpoint, region: 'us-east-1' });
  for (const [name, value] of Object.entries(credentials)) vi.stubEnv(name, value);
  expect(await live(store, 'own-client')).toEqual(lived);
  expect(proxy.requests.length).toBeGreaterThan(5);
  for (const { headers } of proxy.requests) expect(headers['user-agent']).toContain('lambda-once');
});

test("the user's own plain client serves, and keeps its own settings", async () => {
  const client = engineClient(proxy.endpoint);
  expect(await live(dynamoStore({ client, tableName: table.tableName }), 'plain-client')).toEqual(lived);
  for (const { headers } of proxy.requests) expect(headers['user-agent']).not.toContain('lambda-once');
});

test("the user's own document client serves as well", async () => {
  const client = DynamoDBDocumentClient.from(engineClient(proxy.endpoint), {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: { wrapNumbers: true },
  });
  expect(await live(dynamoStore({ client, tableName: table.tableName }), 'document-client')).toEqual(lived);
});

test('a client without `send`, a misspelt option and an empty table name are refused at construction', () => {
  const wrong = [{ client: {} }, { table: 'once' }, { tableName: '' }, { now: 1 }] as object[];
  for (const options of wrong) {
    expect(() => dynamoStore(options)).toThrow(expect.objectContaining({ code: 'options' }));
  }
});
