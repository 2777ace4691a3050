import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createOnceTable } from 'lambda-once/testing';
import { startProvider } from '../../examples/payments/provider.ts';
import { localClientConfig } from '../local/engine.ts';
import type { World } from './cells.ts';
import { startVictim } from './processes.ts';
import type { Order } from './shop.ts';

/** Drill 2: two identical requests at once, each in a warm process of its own. */
export async function runTwins({
  engine,
}: World): Promise<{ answers: string[]; charges: number; faults: string[] }> {
  const provider = await startProvider({ keys: 'ignored' });
  const [one, other] = await Promise.all([startVictim(), startVictim()]);
  try {
    const tableName = `drill-${randomUUID()}`;
    await createOnceTable({ client: new DynamoDBClient(localClientConfig(engine.endpoint)), tableName });
    const at = { endpoint: engine.endpoint, tableName, providerUrl: provider.url, keys: 'ignored' } as const;
    for (const [index, process] of [one, other].entries()) {
      process.tell({ does: 'deliver', order: { ...at, operation: `warm-${index}` } });
      await process.answered();
    }
    const order: Order = { ...at, operation: 'twins', fault: 'answer-after=400' };
    for (const process of [one, other]) process.tell({ does: 'deliver', order });
    const both = await Promise.all([one.answered(), other.answered()]);
    const answers = both.map(({ statusCode, body }) => {
      return statusCode === 201 ? '201' : `${statusCode} ${JSON.parse(body).code}`;
    });
    const charges = provider.ledger().charges.length - 2;
    const busy = both.find(({ statusCode }) => statusCode === 409);
    const faults = [
      ...(answers.toSorted().join() === '201,409 busy' ? [] : [`answered ${answers.join(' and ')}`]),
      ...(Number(busy?.headers?.['Retry-After']) >= 1 ? [] : ['the busy one is not told when to come again']),
      ...(charges === 1 ? [] : [`${charges} charges`]),
    ];
    return { answers, charges, faults };
  } finally {
    await Promise.all([one.kill(), other.kill(), provider.stop()]);
  }
}
