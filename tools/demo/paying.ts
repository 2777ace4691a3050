import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Provider, startProvider } from '../../examples/payments/provider.ts';
import { toHttpEvent } from '../local/front-door.ts';
import type { InvokeResult, LambdaFunction } from '../local/runtime-api.ts';
import { answerOf, compare, type Scene, type Shown } from './scene.ts';
import type { World } from './world.ts';

/** Milliseconds: the function's timeout, 2 s of grace, 3 s of skew allowance, and a little. */
const untilLapsed = 8300;

/** A payment provider without idempotency keys, the function that charges there, and its sweeper. */
interface Shop {
  readonly provider: Provider;
  readonly pay: LambdaFunction;
  readonly sweep: LambdaFunction;
}

/** The money has moved and the process is gone; the next delivery asks the provider before it runs. */
export const askedByTheRetry: Scene = async (world) => {
  const shop = await open(world);
  const order = randomUUID();
  const answers = [await killedAfterTheCharge(shop, order), answerOf(await send(shop, order))];
  await sleep(untilLapsed);
  answers.push(answerOf(await send(shop, order)), answerOf(await send(shop, order)));
  const must = { killed: 1, '409 busy': 1, 201: 1, '201 replayed': 1 };
  return close(shop, 'kill -9 after the charge: the retry asks the provider', answers, must);
};

/** The same, and nobody retries: the sweeper asks, and the order is free to be finished. */
export const askedByTheSweeper: Scene = async (world) => {
  const shop = await open(world);
  const order = randomUUID();
  const answers = [await killedAfterTheCharge(shop, order)];
  await sleep(untilLapsed);
  const swept = await shop.sweep.invoke({});
  const released = swept.kind === 'response' ? (swept.payload as { released?: number }).released : undefined;
  answers.push(`swept, ${released} released`, answerOf(await send(shop, order)));
  const must = { killed: 1, 'swept, 1 released': 1, 201: 1 };
  return close(shop, 'the same, and the sweeper asks', answers, must);
};

async function open(world: World): Promise<Shop> {
  const provider = await startProvider({ keys: 'ignored' });
  const table = await world.createOnceTable();
  const environment = { LAMBDA_ONCE_TABLE: table, PAYMENTS_URL: provider.url };
  return {
    provider,
    pay: world.start('effect.ts', 'handler', environment),
    sweep: world.start('effect.ts', 'sweep', environment),
  };
}

/** The provider charges at once and answers late, so late that nobody is there any more. */
async function killedAfterTheCharge(shop: Shop, order: string): Promise<string> {
  shop.provider.on('charge', 'answer-after=20000');
  let worker: number | undefined;
  const first = send(shop, order, (pid) => {
    worker = pid;
  });
  await shop.provider.until({ charges: 1 });
  if (worker === undefined) throw new Error('no process took the order');
  process.kill(worker, 'SIGKILL');
  return answerOf(await first);
}

async function send({ pay }: Shop, order: string, started?: (pid: number) => void): Promise<InvokeResult> {
  const event = toHttpEvent({
    method: 'POST',
    path: '/payments',
    headers: { 'content-type': 'application/json', 'idempotency-key': order },
    body: JSON.stringify({ amount: 1200, currency: 'EUR' }),
    tenant: 'acme',
  });
  return pay.invoke(event, started === undefined ? {} : { started });
}

async function close(
  { provider, pay, sweep }: Shop,
  title: string,
  given: readonly string[],
  must: Readonly<Record<string, number>>,
): Promise<Shown> {
  const effects = provider.ledger().charges.length;
  await Promise.all([provider.stop(), pay.stop(), sweep.stop()]);
  const answers = new Map<string, number>();
  for (const answer of given) answers.set(answer, (answers.get(answer) ?? 0) + 1);
  const sent = given.filter((answer) => !answer.startsWith('swept')).length;
  return compare({ title, sent, effects, answers }, { effects: 1, answers: must });
}
