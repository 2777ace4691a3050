import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createOnceTable } from 'lambda-once/testing';
import { localClientConfig } from '../../tools/local/engine.ts';
import { itemsIn, type Library } from './libraries.ts';
import type { Plan } from './worker.ts';

/** Plays each list of deliveries in a process of its own, all at once, and counts the effects. */
export async function inProcesses(
  library: Library,
  endpoint: string,
  shares: readonly Plan['deliveries'][],
): Promise<number> {
  const client = new DynamoDBClient(localClientConfig(endpoint));
  const [tableName, effects] = [`claims-${randomUUID()}`, `effects-${randomUUID()}`];
  await library.createTable(client, tableName);
  await createOnceTable({ client, tableName: effects });
  const workers = shares.map(() => fork(new URL('worker.ts', import.meta.url)));
  try {
    await Promise.all(
      workers.map(async (worker, index) => {
        const deliveries = shares[index] ?? [];
        worker.send({ endpoint, library: library.name, tableName, effects, deliveries } satisfies Plan);
        await heard(worker, 'ready');
      }),
    );
    for (const worker of workers) worker.send('go');
    await Promise.all(workers.map((worker) => heard(worker, 'done')));
    return await itemsIn(client, effects);
  } finally {
    for (const worker of workers) worker.kill();
    client.destroy();
  }
}

async function heard(worker: ChildProcess, word: string): Promise<void> {
  const [message] = (await once(worker, 'message', { signal: AbortSignal.timeout(60_000) })) as [unknown];
  if (message !== word) throw new Error(`A worker said ${String(message)}, not ${word}.`);
}
