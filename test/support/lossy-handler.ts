import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, vi } from 'vitest';
import { recordId } from '../../src/domain/identity.ts';
import type { OnceRecord } from '../../src/domain/record.ts';
import { dynamoStore, type HttpEvent, idempotentHttp, type OnceEvent } from '../../src/index.ts';
import { toRecord } from '../../src/store/dynamo/item.ts';
import { contextWith, fronts } from './http.ts';
import { type LossyProxy, lossyEngine } from './lossy-proxy.ts';
import { freshTable } from './table.ts';

/** How the handler of a delivery behaves. */
type Behaviour = 'ok' | 'throws' | 'slow';

/** An answer, with what went on around it. */
interface Delivered {
  readonly answer: { statusCode: number; headers?: Record<string, string>; body: string };
  /** The problem's code, where the answer is one. */
  readonly code: string | undefined;
  /** Runs of the handler for this key so far. */
  readonly runs: number;
  readonly milliseconds: number;
}

/** A handler on a store with our own client, the proxy between it and the engine. Keys are told apart per test. */
export async function faultyHandler(): Promise<{
  readonly proxy: LossyProxy;
  /** The events of the running test. */
  readonly events: OnceEvent[];
  readonly deliver: (
    key: string,
    behaviour?: Behaviour,
    parts?: { body?: unknown; remaining?: number },
  ) => Promise<Delivered>;
  /** The record of a key, read around the proxy. */
  readonly onlyRecord: (key: string) => Promise<OnceRecord | undefined>;
}> {
  const proxy = await lossyEngine();
  const table = await freshTable();
  const events: OnceEvent[] = [];
  const runs = new Map<string, number>();
  let testNumber = 0;
  let behave: Behaviour = 'ok';
  const operation = 'faulty';
  beforeEach(() => {
    testNumber += 1;
    events.length = 0;
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret-nobody-may-see');
  });
  afterEach(() => vi.unstubAllEnvs());
  const handler = idempotentHttp(
    async (_event: HttpEvent, _context: unknown, claim) => {
      const run = (runs.get(claim.key) ?? 0) + 1;
      runs.set(claim.key, run);
      if (behave === 'throws') throw new Error('a passing failure');
      if (behave === 'slow') await sleep(600);
      return { statusCode: 201, body: `run ${run}` };
    },
    {
      store: dynamoStore({ tableName: table.tableName, endpoint: proxy.endpoint, region: 'us-east-1' }),
      operation,
      scope: 'none',
      observe: (event) => events.push(event),
    },
  );
  const named = (key: string): string => `${testNumber}-${key}`;
  return {
    proxy,
    events,
    async deliver(key, behaviour = 'ok', { body = { amount: 1 }, remaining = 30_000 } = {}) {
      behave = behaviour;
      const begun = performance.now();
      const event = fronts.v2({ key: named(key), body });
      const answer = (await handler(event, contextWith(remaining)).catch((error: Error) => ({
        // as Lambda would answer
        statusCode: 500,
        body: error.message,
      }))) as Delivered['answer'];
      const isProblem = answer.headers?.['Content-Type'] === 'application/problem+json';
      return {
        answer,
        code: isProblem ? (JSON.parse(answer.body) as { code: string }).code : undefined,
        runs: runs.get(named(key)) ?? 0,
        milliseconds: performance.now() - begun,
      };
    },
    onlyRecord: async (key) =>
      toRecord(await table.item(recordId({ operation, scope: 'none', key: named(key) }))),
  };
}
