import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { afterEach, expect, inject, test, vi } from 'vitest';
import { idempotentHttp } from '../../src/index.ts';
import { contextWith, fronts, type RequestParts } from '../support/http.ts';
import { lossyEngine } from '../support/lossy-proxy.ts';
import { engineClient, freshTable } from '../support/table.ts';

const proxy = await lossyEngine();
const table = await freshTable();
const { kind, returnsItems } = inject('engine');
if (!returnsItems) {
  console.log(`requests: ${kind} returns no item with a refusal, so each refusal counts one read more here`);
}
/** The claim puts the record into the sweep index, its end takes it out. dynalite does not count that. */
const withIndex = (units: number): number => (kind === 'dynalite' ? units : units + 2);
/** What a refused claim costs. */
const refused = returnsItems ? ['PutItem'] : ['PutItem', 'GetItem'];
afterEach(() => vi.unstubAllEnvs());
/** Runs work in a call chain of its own, as another invocation is. */
const elsewhere = AsyncLocalStorage.snapshot();

type Answer = { statusCode: number };
interface Counted {
  readonly deliver: (parts: RequestParts) => Promise<Answer>;
  /** Write units since the last look. */
  readonly units: () => number;
}

/** A handler whose client asks for the consumed capacity, which the library itself has no use for. */
function counted(work: () => Promise<unknown> = async () => undefined, required = true): Counted {
  const client = engineClient(proxy.endpoint);
  let units = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      const measured = { ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } };
      const result = await next(measured as typeof args);
      const { ConsumedCapacity } = result.output as { ConsumedCapacity?: { CapacityUnits?: number } };
      units += ConsumedCapacity?.CapacityUnits ?? Number.NaN;
      return result;
    },
    { step: 'initialize' },
  );
  const handler = idempotentHttp(
    async () => {
      await work();
      return { statusCode: 201, body: JSON.stringify({ orderId: 'o-1' }) };
    },
    { store: table.store({ client }), operation: `count-${randomUUID()}`, scope: 'none', required },
  );
  return {
    deliver: async (parts) =>
      (await handler(fronts.v2({ body: { amount: 1 }, ...parts }), contextWith())) as Answer,
    units() {
      const since = units;
      units = 0;
      return since;
    },
  };
}

test('P12: a first run is two requests and four write units, two of them of the sweep index', async () => {
  const { deliver, units } = counted();
  expect(await deliver({ key: 'k' })).toMatchObject({ statusCode: 201 });
  expect(proxy.operations()).toEqual(['PutItem', 'UpdateItem']);
  expect(units()).toBe(withIndex(2));
});

test('P12: a replay is one request, and so is a key that was reused', async () => {
  const { deliver } = counted();
  await deliver({ key: 'k' });
  proxy.heal();
  expect(await deliver({ key: 'k' })).toMatchObject({ statusCode: 201 });
  expect(proxy.operations()).toEqual(refused);
  proxy.heal();
  expect(await deliver({ key: 'k', body: { amount: 2 } })).toMatchObject({ statusCode: 422 });
  expect(proxy.operations()).toEqual(refused);
});

test('P12: a busy key is one request, and a reused one is told so while the first still runs', async () => {
  let during: (() => Promise<void>) | undefined;
  const { deliver } = counted(async () => during?.());
  const found: unknown[] = [];
  during = async () => {
    during = undefined;
    for (const parts of [{ key: 'k' }, { key: 'k', body: { amount: 2 } }]) {
      proxy.heal();
      const { statusCode } = await elsewhere(() => deliver(parts));
      found.push([statusCode, proxy.operations()]);
    }
  };
  await deliver({ key: 'k' });
  expect(found).toEqual([
    [409, refused],
    [422, refused],
  ]);
});

test('P12 H16: what is not protected costs nothing: a safe method, no key, the switch', async () => {
  const { deliver } = counted(undefined, false);
  expect(await deliver({ method: 'GET', key: 'k' })).toMatchObject({ statusCode: 201 });
  expect(await deliver({ method: 'OPTIONS' })).toMatchObject({ statusCode: 201 });
  expect(await deliver({})).toMatchObject({ statusCode: 201 });
  vi.stubEnv('LAMBDA_ONCE_DISABLED', 'true');
  expect(await deliver({ key: 'k' })).toMatchObject({ statusCode: 201 });
  vi.unstubAllEnvs();
  const refusing = counted();
  expect(await refusing.deliver({})).toMatchObject({ statusCode: 400 });
  expect(await refusing.deliver({ key: 'k'.repeat(256) })).toMatchObject({ statusCode: 400 });
  expect(proxy.operations()).toEqual([]);
});

test('a run that fails is two requests, and so is the take-over after it, after its refused claim', async () => {
  let fails = true;
  const { deliver, units } = counted(async () => {
    if (fails) throw new Error('a passing failure');
  });
  await expect(deliver({ key: 'k' })).rejects.toThrow('a passing failure');
  expect(proxy.operations()).toEqual(['PutItem', 'UpdateItem']);
  expect(units()).toBe(withIndex(2));
  fails = false;
  proxy.heal();
  expect(await deliver({ key: 'k' })).toMatchObject({ statusCode: 201 });
  expect(proxy.operations()).toEqual([...refused, 'UpdateItem', 'UpdateItem']);
});
