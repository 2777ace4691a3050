import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { dynamoStore, idempotent, idempotentHttp, type OnceEvent } from '../../src/index.ts';
import { freePort } from '../../tools/local/engine.ts';
import { contextWith, fronts } from '../support/http.ts';
import { lossyEngine } from '../support/lossy-proxy.ts';
import { freshTable } from '../support/table.ts';

const secrets = ['a-secret-nobody-may-see', 'ann@example.com', 'tenant-of-ann', 'private note'];
const proxy = await lossyEngine();
const table = await freshTable();
const silent = await startSilentServer();
afterAll(() => silent.stop());
beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret-nobody-may-see');
});
afterEach(() => vi.unstubAllEnvs());

const outages = [
  { what: 'nobody listens', endpoint: `http://127.0.0.1:${await freePort()}`, says: 'could not be reached' },
  {
    what: 'the store takes the request and never answers',
    endpoint: silent.endpoint,
    says: 'did not answer in time',
  },
  { what: 'the table is missing', tableName: 'no-such-table', says: 'the table does not exist' },
  { what: 'access is denied', fault: 'deny', says: 'access was denied' },
  { what: 'the table is throttled', fault: 'throttle', says: /throttled|did not answer in time/ },
  { what: 'the service fails', fault: 'fail', says: /it failed/ },
  { what: 'every connection breaks', fault: 'reset', says: 'could not be reached' },
] as const;

describe.each(outages)('S19: $what', (outage) => {
  const { endpoint, tableName, fault } = {
    endpoint: proxy.endpoint,
    tableName: table.tableName,
    fault: undefined,
    ...outage,
  };
  const events: OnceEvent[] = [];
  let runs = 0;
  const ran = (): number => {
    runs += 1;
    return 200;
  };
  const options = {
    store: dynamoStore({ endpoint, tableName, region: 'us-east-1' }),
    observe: (event: OnceEvent) => void events.push(event),
  };
  beforeEach(() => {
    events.length = 0;
    runs = 0;
    for (const operation of ['PutItem', 'UpdateItem', 'GetItem'] as const) {
      if (fault !== undefined) proxy.on(operation, fault, 100);
    }
  });

  // tried again on a machine that stood still meanwhile: two seconds are the store's promise, not the scheduler's
  test('the handler does not run; 503 with Retry-After within two seconds', { retry: 2 }, async () => {
    const handler = idempotentHttp(async () => ({ statusCode: ran() }), {
      ...options,
      operation: 'outage-http',
      scope: () => 'tenant-of-ann',
    });
    const begun = performance.now();
    const event = fronts.v2({ key: 'ann@example.com', body: { note: 'private note' } });
    const answer = await handler(event, contextWith());
    expect(performance.now() - begun).toBeLessThan(2000);
    expect(runs).toBe(0);
    expect(answer).toMatchObject({
      statusCode: 503,
      headers: { 'Content-Type': 'application/problem+json' },
    });
    const { headers, body } = answer as { headers: Record<string, string>; body: string };
    expect(headers['Retry-After']).toMatch(/^[1-9]\d*$/);
    expect(JSON.parse(body)).toMatchObject({
      code: 'store',
      status: 503,
      detail: 'Nothing was done. Try again with the same key.',
    });
    for (const secret of secrets) expect(body + JSON.stringify(events)).not.toContain(secret);
    // why is told to the operator, not to the caller
    expect(events).toMatchObject([
      { type: 'store-failed', at: 'claim', error: { message: expect.stringMatching(outage.says) } },
      { type: 'refused', code: 'store' },
    ]);
  });

  test('a function gets a store error whose text holds no secret', async () => {
    const once = idempotent(async (_input: { email: string }) => ran(), {
      ...options,
      operation: 'outage-function',
      key: ({ email }) => email,
    });
    const error = await once({ email: 'ann@example.com' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'IdempotencyError', code: 'store', status: 503, retryAfter: 2 });
    for (const secret of secrets) expect(String(error)).not.toContain(secret);
    expect(runs).toBe(0);
  });
});

test('S19: when the store is back, the very next delivery runs', async () => {
  const once = idempotent(async () => 'done', {
    store: dynamoStore({ endpoint: proxy.endpoint, tableName: table.tableName, region: 'us-east-1' }),
    operation: 'outage-over',
    key: () => 'k',
  });
  proxy.on('PutItem', 'reset', 3);
  await expect(once(1)).rejects.toMatchObject({ code: 'store' });
  expect(await once(1)).toBe('done');
});

/** Takes connections and says nothing. */
async function startSilentServer(): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { endpoint: `http://127.0.0.1:${port}`, stop };
}
