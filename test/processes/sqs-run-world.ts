import { setTimeout as sleep } from 'node:timers/promises';
import { inject, onTestFinished } from 'vitest';
import { type BatchEnd, startEventSourceMapping } from '../../tools/local/event-source-mapping.ts';
import { type Queue, startQueues } from '../../tools/local/queue.ts';
import { startFunction } from '../../tools/local/runtime-api.ts';
import { freshTable, type TestTable } from '../support/table.ts';
import { bundledHandler } from './sqs-run-bundle.ts';
import type { RunVariables } from './sqs-run-handler.ts';
import type { Order } from './sqs-run-plan.ts';
import { receiveAll, sendAll } from './sqs-run-producer.ts';

/** Seconds. */
const visibility = 2;
/** Milliseconds; longer than the visibility timeout, which AWS advises against and which happens. */
const slowness = visibility * 1000 + 150;
/** Milliseconds. With it a killed order is received at 0, 2 and 4 s in vain: its lease ends after 5.6 s. */
const timeout = 3500;
const maxReceiveCount = 5;

/** Several batches at once and, on the FIFO queue, small ones: a batch holds all its groups as long as its slowest. */
const pollers = {
  standard: { batchSize: 10, maximumConcurrency: 8 },
  fifo: { batchSize: 2, maximumConcurrency: 12 },
} as const;

/** Which code consumes the queues. */
export interface Deployment {
  readonly handlerName: 'handler' | 'byMessageId';
  readonly isRepaired: boolean;
}

/** Queues with dead-letter queues, tables, and functions in processes of their own; all gone when the test is. */
export interface RunWorld {
  readonly numbers: Numbers;
  /** The table under test. */
  readonly table: TestTable;
  send(kind: Kind, orders: readonly Order[]): Promise<void>;
  /** Consumes both queues until all is sent and they are empty. */
  consume(deployment: Deployment, sent: Promise<unknown>): Promise<void>;
  /** Sends what is in the dead-letter queues again, under new message ids; resolves with the orders that were there. */
  redrive(): Promise<Order[]>;
  /** The business keys of all effects, one for each time it happened. */
  effects(): Promise<string[]>;
  /** The effects of each message group, in the order in which they happened. */
  happened(): Promise<ReadonlyMap<string, readonly string[]>>;
}
type Kind = 'standard' | 'fifo';

/** What was counted on the way. */
export interface Numbers {
  deliveries: number;
  redeliveries: number;
  /** How invocations ended. */
  readonly invocations: Map<string, number>;
  /** What the library observed, as the processes printed it. */
  readonly events: Map<string, number>;
}

/** Starts it all. */
export async function startRun(): Promise<RunWorld> {
  const [table, effects, groups] = [await freshTable(), await freshTable(), await freshTable()];
  const service = await startQueues();
  onTestFinished(() => service.stop());
  const withDeadLetters = async (suffix: '' | '.fifo'): Promise<{ queue: Queue; dead: Queue }> => {
    const dead = await service.createQueue(`dead${suffix}`, { visibility: 30 });
    const deadLetter = { queue: dead, maxReceiveCount };
    return { dead, queue: await service.createQueue(`orders${suffix}`, { visibility, deadLetter }) };
  };
  const queues = { standard: await withDeadLetters(''), fifo: await withDeadLetters('.fifo') };
  const file = await bundledHandler();
  const numbers: Numbers = { deliveries: 0, redeliveries: 0, invocations: new Map(), events: new Map() };
  const both = [queues.standard, queues.fifo];

  const onBatch = ({ records, result }: BatchEnd): void => {
    numbers.deliveries += records.length;
    numbers.redeliveries += records.filter(
      (record) => record.attributes.ApproximateReceiveCount !== '1',
    ).length;
    count(numbers.invocations, result.kind);
  };

  const variablesFor = (isRepaired: boolean): RunVariables & Record<string, string> => ({
    AWS_ENDPOINT_URL_DYNAMODB: inject('engine').endpoint,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    LAMBDA_ONCE_TABLE: table.tableName,
    EFFECTS_TABLE: effects.tableName,
    GROUPS_TABLE: groups.tableName,
    SLOWNESS: String(slowness),
    REPAIRED: isRepaired ? 'yes' : 'no',
  });

  async function drained(): Promise<void> {
    for (;;) {
      const depths = await Promise.all(both.map(({ queue }) => service.depthOf(queue)));
      if (depths.every((depth) => depth === 0)) return;
      await sleep(100);
    }
  }

  return {
    numbers,
    table,
    send: (kind, orders) => sendAll(service.client, queues[kind].queue, orders),
    async consume({ handlerName, isRepaired }, sent) {
      const consumer = startFunction({
        file,
        handlerName,
        timeout,
        environment: variablesFor(isRepaired),
        log: (line) => count(numbers.events, line),
      });
      onTestFinished(() => consumer.stop());
      const mappings = (['standard', 'fifo'] as const).map((kind) =>
        startEventSourceMapping({
          ...pollers[kind],
          client: service.client,
          queue: queues[kind].queue,
          invoke: (event) => consumer.invoke(event),
          onBatch,
        }),
      );
      await sent;
      await drained();
      await Promise.all(mappings.map((mapping) => mapping.stop()));
      await consumer.stop();
    },
    async redrive() {
      const orders: Order[] = [];
      for (const { queue, dead } of both) {
        const found = await receiveAll(service.client, dead, () => service.depthOf(dead));
        await sendAll(service.client, queue, found);
        orders.push(...found);
      }
      return orders;
    },
    effects: async () => (await effects.items()).map(({ of }) => of?.S ?? ''),
    happened: async () =>
      new Map(
        (await groups.items()).map(({ id, happened }) => [
          id?.S ?? '',
          happened?.L?.map(({ S = '' }) => S) ?? [],
        ]),
      ),
  };
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
