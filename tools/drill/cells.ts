import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Store } from 'lambda-once';
import { type SweepReport, sweepHandler } from 'lambda-once/sweeper';
import { createOnceTable } from 'lambda-once/testing';
import { type Provider, startProvider } from '../../examples/payments/provider.ts';
import { type Engine, localClientConfig, startEngine } from '../local/engine.ts';
import { type Point, points } from './points.ts';
import { startVictim } from './processes.ts';
import {
  type Answer,
  chargeCard,
  identity,
  type Keys,
  lease,
  type Order,
  onTheWay,
  settling,
  shop,
  skew,
  storeOf,
} from './shop.ts';

/** What comes after the kill. */
export const recoveries = ['a retry', 'a sweep', 'both at once'] as const;
export type Recovery = (typeof recoveries)[number];

/** One experiment. */
export interface Cell {
  readonly point: Point;
  readonly keys: Keys;
  readonly recovery: Recovery;
  /** How often the provider cannot tell, before it can. */
  readonly silent?: number;
  /** Wrong on purpose, see {@link Order}. */
  readonly naive?: boolean;
}

/** What an experiment showed, with what is wrong about it. */
export interface Shown {
  readonly cell: Cell;
  readonly charges: number;
  readonly answer: string;
  /** Milliseconds from the kill to the final answer. */
  readonly took: number;
  readonly faults: readonly string[];
}

/** All of them: each point, provider and recovery; and, where somebody has to ask, a provider that cannot tell at first. */
export const cells: readonly Cell[] = [
  ...points.flatMap((point) =>
    (['merged', 'ignored'] as const).flatMap((keys) =>
      recoveries.map((recovery) => ({ point, keys, recovery })),
    ),
  ),
  ...(['a retry', 'a sweep'] as const).map(
    (recovery): Cell => ({
      point: 'after the effect, before the journal',
      keys: 'ignored',
      recovery,
      silent: 2,
    }),
  ),
];

/** Where the experiments happen. */
export interface World {
  readonly engine: Engine;
  readonly stop: () => Promise<void>;
}

export async function startWorld(): Promise<World> {
  const engine = await startEngine();
  return { engine, stop: () => engine.stop() };
}

/** Milliseconds between two sweeps, and what a slow machine may add to all of it. */
const sweepEvery = 150;
const slack = 5000;

/** Kills a process at a point, recovers, and looks at what the provider's own books say. */
export async function runCell({ engine }: World, cell: Cell, random: () => number): Promise<Shown> {
  const { point, keys, recovery, silent = 0, naive } = cell;
  const provider = await startProvider({ keys });
  try {
    const order = { ...(await openOrder(engine, provider, keys)), naive };
    const store = storeOf(order);
    await killAt(point, order, provider, random);
    const killed = performance.now();
    provider.on('find', 'unavailable', silent);
    const charge = chargeCard(order);
    const deliver = shop(order, store, charge);
    const sweep = sweepHandler({ store, effects: [charge], log: () => {} });
    const { answer, seen } = await recover(recovery, deliver, sweep, () => isOpen(store, order));
    const took = performance.now() - killed;
    const again = await deliver();
    await sleep(point === 'during the effect' ? onTheWay : 0);
    const status = await store.lookup(identity(order.operation));
    const booked = provider.ledger(status?.effects[0]?.token).charges;
    const faults = [
      ...wrongIf(booked.length !== 1, `${booked.length} charges`),
      ...wrongIf(answer.statusCode !== 201, `answered ${answer.statusCode}`),
      ...wrongIf(JSON.parse(answer.body).chargeId !== booked[0]?.chargeId, 'the answer is not that charge'),
      ...wrongIf(again.body !== answer.body, 'a duplicate got another answer'),
      ...wrongIf(status?.state !== 'completed', `left ${status?.state}`),
      ...wrongIf(took > lease + skew + settling[keys] + sweepEvery + slack, 'stuck for too long'),
      ...wrongIf(silent > 0 && !seen.includes('in-doubt'), 'nobody was told that it is in doubt'),
    ];
    return {
      cell,
      charges: booked.length,
      answer: [...new Set([...seen, String(answer.statusCode)])].join(', '),
      took,
      faults,
    };
  } finally {
    await provider.stop();
  }
}

function wrongIf(isWrong: boolean, what: string): string[] {
  return isWrong ? [what] : [];
}

async function openOrder(engine: Engine, provider: Provider, keys: Keys): Promise<Order> {
  const tableName = `drill-${randomUUID()}`;
  await createOnceTable({ client: new DynamoDBClient(localClientConfig(engine.endpoint)), tableName });
  // a name of its own: the processes of other orders ask other providers
  const operation = `pay-${randomUUID().slice(0, 8)}`;
  return { endpoint: engine.endpoint, tableName, providerUrl: provider.url, keys, operation };
}

/** Starts a process, lets it come to the point, and kills it there, a moment earlier or later. */
async function killAt(point: Point, order: Order, provider: Provider, random: () => number): Promise<void> {
  const victim = await startVictim();
  const isDuring = point === 'during the effect';
  const fault = isDuring ? `apply-after=${onTheWay}` : undefined;
  victim.tell({ does: 'die', order: { ...order, fault }, point });
  if (isDuring) await provider.until({ arrived: 1 });
  else await victim.stopped();
  await sleep(random() * (isDuring ? onTheWay / 2 : 50));
  await victim.kill();
}

/** Whether something is still to be found out. */
async function isOpen(store: Store, { operation }: Order): Promise<boolean> {
  const status = await store.lookup(identity(operation));
  return status !== undefined && (status.dueAt !== undefined || status.state === 'lapsed');
}

interface Recovered {
  readonly answer: Answer;
  /** How it was refused before, and what sweeps reported. */
  readonly seen: readonly string[];
}

async function recover(
  recovery: Recovery,
  deliver: () => Promise<Answer>,
  sweep: () => Promise<SweepReport>,
  open: () => Promise<boolean>,
): Promise<Recovered> {
  switch (recovery) {
    case 'a retry':
      return retry(deliver);
    case 'a sweep': {
      const seen = await sweepUntilSettled(sweep, open);
      const { answer, seen: later } = await retry(deliver);
      return { answer, seen: [...seen, ...later] };
    }
    case 'both at once': {
      const sweeping = [sweepUntilSettled(sweep, open), sweepUntilSettled(sweep, open)];
      const [one, other] = await Promise.all([retry(deliver), retry(deliver)]);
      await Promise.all(sweeping);
      if (one.answer.body !== other.answer.body) throw new Error('two retries got two answers');
      return { answer: one.answer, seen: [...one.seen, ...other.seen] };
    }
    default:
      return recovery satisfies never;
  }
}

/** As a client that was told to come again. */
async function retry(deliver: () => Promise<Answer>): Promise<Recovered> {
  const seen: string[] = [];
  for (let time = 0; time < 200; time += 1) {
    const answer = await deliver();
    if (answer.statusCode !== 409 && answer.statusCode !== 503) return { answer, seen };
    seen.push(JSON.parse(answer.body).code as string);
    await sleep(75);
  }
  throw new Error(`no answer: ${[...new Set(seen)].join(', ')}`);
}

/** As a schedule would, until nothing is open, or only what a later sweep has to ask about again. */
async function sweepUntilSettled(
  sweep: () => Promise<SweepReport>,
  open: () => Promise<boolean>,
): Promise<string[]> {
  for (let time = 0; time < 100 && (await open()); time += 1) {
    const report = await sweep();
    if (report.inDoubt > 0) return report.open.map(() => 'in-doubt');
    await sleep(sweepEvery);
  }
  return [];
}
