import {
  type AttributeValue,
  BatchWriteItemCommand,
  ScanCommand,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { expect, inject, test } from 'vitest';
import { toItem } from '../../src/store/dynamo/item.ts';
import { Clock } from '../support/clock.ts';
import { engineClient, freshTable, type TestTable } from '../support/table.ts';
import { idOf, lapsed, nothing, payments, sweeper } from './support.ts';

/**
 * Outcomes in the table beside the few records that a sweep is for. Writing 100,000 takes 12 seconds on an idle machine and 40 on a
 * busy one, so that is a run of its own: `LAMBDA_ONCE_OUTCOMES=100000 npx vitest run test/lambda/cost.test.ts`.
 */
const outcomes = Number(
  process.env.LAMBDA_ONCE_OUTCOMES ?? (inject('engine').kind === 'dynalite' ? 5000 : 20_000),
);
const lost = 50;

/** Eight at a time, as many as one request takes. */
async function fill({ client, tableName }: TestTable, clock: Clock): Promise<void> {
  const expiresAt = Math.ceil(clock.now() / 1000) + 86_400;
  const [claimedAt, leaseUntil] = [clock.now(), clock.now() + 10_000];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < outcomes) {
      const from = next;
      next += 25;
      const batch = Array.from({ length: Math.min(25, outcomes - from) }, (_, index) => {
        const life = { owner: 'gone', fence: claimedAt, attempt: 1, claimedAt, leaseUntil, expiresAt };
        const record = {
          id: idOf(`done ${from + index}`),
          state: 'completed',
          outcome: '1v"paid"',
          ...life,
        } as const;
        return { PutRequest: { Item: toItem(record) } };
      });
      const { UnprocessedItems } = await client.send(
        new BatchWriteItemCommand({ RequestItems: { [tableName]: batch } }),
      );
      expect(UnprocessedItems ?? {}).toEqual({});
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

/** A client that adds up what its reads consume, by operation. */
function metered() {
  const client = engineClient();
  const units: Record<string, number> = {};
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const measured = { ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } };
      const result = await next(measured as typeof args);
      const { ConsumedCapacity } = result.output as { ConsumedCapacity?: { CapacityUnits?: number } };
      const name = String(context.commandName);
      units[name] = (units[name] ?? 0) + (ConsumedCapacity?.CapacityUnits ?? Number.NaN);
      return result;
    },
    { step: 'initialize' },
  );
  return { client, units };
}

/** What it would cost to look at everything. */
async function scanUnits({ tableName }: TestTable): Promise<number> {
  const { client, units } = metered();
  let [start, seen]: [Record<string, AttributeValue> | undefined, number] = [undefined, 0];
  do {
    const page: ScanCommandOutput = await client.send(
      new ScanCommand({ TableName: tableName, ExclusiveStartKey: start, Select: 'COUNT' }),
    );
    seen += page.Count ?? 0;
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  expect(seen).toBe(outcomes + lost);
  return units.ScanCommand ?? Number.NaN;
}

test(`W04: of ${outcomes} records (100000 by LAMBDA_ONCE_OUTCOMES) a sweep reads the ${lost} that are lapsed, all of them`, async () => {
  const [table, clock] = [await freshTable(), new Clock()];
  await fill(table, clock);
  const { crash } = payments(table.store({ now: clock.now }), { onLapse: 'rerun' });
  for (let index = 0; index < lost; index += 1) await crash(`lost ${index}`);
  clock.advance(lapsed);

  const { client, units } = metered();
  const report = await sweeper({ store: table.store({ client, now: clock.now }) })();
  expect(report).toEqual({ ...nothing, examined: lost, released: lost });
  const { QueryCommand: listed = Number.NaN, GetItemCommand: read = Number.NaN } = units;
  // one unit per strong read, half a unit per shard and page of the index
  expect(read).toBe(lost);
  expect(listed).toBeGreaterThan(0);
  expect(listed).toBeLessThanOrEqual(20);
  expect(units.ScanCommand).toBeUndefined();

  const scanned = await scanUnits(table);
  console.log(
    `sweep of ${outcomes} records, ${lost} lapsed: ${listed} + ${read} read units; a scan: ${scanned}`,
  );
  expect(scanned).toBeGreaterThan(outcomes / 100);
  expect(scanned).toBeGreaterThan(3 * (listed + read));
  expect(scanned).toBeGreaterThan(20 * listed);
}, 180_000);
