import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSRecord } from 'aws-lambda';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { bodyKey, idempotentSqs } from '../../src/index.ts';
import { companionPrefix } from '../../src/names.ts';
import { startEventSourceMapping } from '../../tools/local/event-source-mapping.ts';
import { type QueueService, startQueues } from '../../tools/local/queue.ts';
import { startTableStream } from '../../tools/local/table-stream.ts';
import { orders, transactional as test } from '../support/orders.ts';
import { startWorker } from '../support/workers.ts';
import type { RelayOrder } from './outbox-worker.ts';

let queues: QueueService;
beforeAll(async () => {
  queues = await startQueues();
});
afterAll(() => queues.stop());

test('a relay killed between send and checkpoint sends twice, and the consumer has its effect once', async () => {
  const { once, wrap, put } = await orders();
  const queue = await queues.createQueue('confirmations', { visibility: 5 });
  const { port } = new URL(queue.url);
  let kills = 0;

  // the relay, in a process of its own for each batch; the first one dies after its first send
  const stream = await startTableStream({
    client: once.client,
    endpoint: inject('engine').endpoint,
    tableName: once.tableName,
    prefix: companionPrefix.outbox,
    invoke: async (event) => {
      const relay = startWorker('outbox-worker.ts');
      const dies = kills === 0;
      relay.tell({
        queues: `http://127.0.0.1:${port}`,
        queueUrl: queue.url,
        event,
        dies,
      } satisfies RelayOrder);
      const said = await relay.hear<{ sent: true } | { answer: { batchItemFailures: [] } }>();
      await relay.kill();
      if ('answer' in said) return said.answer;
      kills += 1;
      throw new Error('the relay was killed');
    },
  });

  const mailed: string[] = [];
  let deliveries = 0;
  const mail = idempotentSqs(
    async ({ body }: SQSRecord) => {
      mailed.push((JSON.parse(body) as { detail: { id: string } }).detail.id);
    },
    { store: once.store(), operation: 'mail', key: bodyKey('key') },
  );
  const mapping = startEventSourceMapping({
    client: queues.client,
    queue,
    invoke: async (event) => {
      deliveries += event.Records.length;
      const payload = await mail(event as never, { getRemainingTimeInMillis: () => 10_000 } as never);
      return { kind: 'response', payload, pid: 0, milliseconds: 0 } as never;
    },
  });

  const place = wrap((claim) =>
    claim.commit('placed', [put('o-1')], { outbox: [{ type: 'order-placed', detail: { id: 'o-1' } }] }),
  );
  expect(await place({ id: 'o-1' })).toBe('placed');
  for (let look = 0; look < 200 && deliveries < 2; look += 1) await sleep(50);
  await sleep(200);
  await Promise.all([stream.stop(), mapping.stop()]);
  expect({ kills, deliveries, mailed }).toEqual({ kills: 1, deliveries: 2, mailed: ['o-1'] });
}, 30_000);
