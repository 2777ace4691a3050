import { setTimeout as sleep } from 'node:timers/promises';
import { committedOnce } from './committing.ts';
import { askedByTheRetry, askedByTheSweeper } from './paying.ts';
import { type Scene, Stage } from './scene.ts';
import { shippedOnce } from './shipping.ts';
import type { World } from './world.ts';

/** Milliseconds: the function's timeout, 2 s of grace, 1 s of skew allowance, and a little. */
const untilLapsed = 6500;

/** How many duplicates come at once, each from a process of its own. */
const storm = 20;

const firstCall: Scene = async (world) => {
  const stage = await open(world);
  await stage.send();
  return stage.close('first call', { effects: 1, answers: { 201: 1 } });
};

const sameBytes: Scene = async (world) => {
  const stage = await open(world);
  await stage.send();
  await stage.send();
  return stage.close('retry with the same bytes', { effects: 1, answers: { 201: 1, '201 replayed': 1 } });
};

const reordered: Scene = async (world) => {
  const stage = await open(world);
  await stage.send({ headers: { 'x-amzn-trace-id': 'Root=1-1' } });
  const body = `{ "amount": 2e1,\n  "account": "${stage.account}" }`;
  await stage.send({ body, headers: { 'x-amzn-trace-id': 'Root=1-2' } });
  const title = 'retry with reordered JSON and another trace header';
  return stage.close(title, { effects: 1, answers: { 201: 1, '201 replayed': 1 } });
};

const atOnce: Scene = async (world) => {
  const stage = await open(world, 'holding', 'slow');
  await world.function('holding').prewarm(storm);
  const results = await Promise.all(Array.from({ length: storm }, () => stage.send()));
  const processes = new Set(results.map((result) => ('pid' in result ? result.pid : undefined)));
  if (processes.size !== storm) throw new Error(`${processes.size} processes answered, not ${storm}`);
  return stage.close(`${storm} at once from ${storm} processes`, {
    effects: 1,
    answers: (answers) => {
      const count = (name: string): number => answers.get(name) ?? 0;
      return count('201') === 1 && count('409 busy') + count('201 replayed') === storm - 1;
    },
  });
};

const otherAmount: Scene = async (world) => {
  const stage = await open(world);
  await stage.send();
  await stage.send({ body: JSON.stringify({ account: stage.account, amount: 30 }) });
  return stage.close('same key with another amount', {
    effects: 1,
    answers: { 201: 1, '422 key-reused': 1 },
  });
};

const otherTenant: Scene = async (world) => {
  const stage = await open(world);
  await stage.send({ tenant: 'acme' });
  await stage.send({ tenant: 'globex' });
  return stage.close('another tenant with the same key', { effects: 2, answers: { 201: 2 } });
};

const unavailable: Scene = async (world) => {
  const stage = await open(world, 'holding', 'down');
  await stage.send();
  await world.setAccount(stage.account, 100);
  await stage.send();
  await stage.send();
  const answers = { 503: 1, 201: 1, '201 replayed': 1 };
  return stage.close('a 503, then success, then a retry', { effects: 1, answers });
};

const declined: Scene = async (world) => {
  const stage = await open(world);
  await world.setAccount(stage.account, 5);
  await stage.send();
  await world.setAccount(stage.account, 100);
  await stage.send();
  const answers = { 402: 1, '402 replayed': 1 };
  return stage.close('a declined payment, replayed after a top-up', { effects: 0, answers });
};

const killedAndHeld: Scene = async (world) => {
  const stage = await killedInMidWork(world, 'holding');
  await stage.send();
  const answers = { killed: 1, '409 busy': 1, '409 in-doubt': 1 };
  return stage.close("kill -9 in mid-work, then retries under 'hold'", { effects: 1, answers });
};

const killedAndRerun: Scene = async (world) => {
  const stage = await killedInMidWork(world, 'rerunning');
  await stage.send();
  const answers = { killed: 1, '409 busy': 1, 201: 1 };
  return stage.close("kill -9 in mid-work, then retries under 'rerun'", { effects: 1, answers });
};

const afterRetention: Scene = async (world) => {
  const stage = await open(world, 'forgetful');
  await stage.send();
  await stage.send();
  await sleep(3500);
  await stage.send();
  const answers = { 201: 2, '201 replayed': 1 };
  return stage.close('a retry within the retention, and one after it', { effects: 2, answers });
};

/** The story, in the order it is told. */
export const story: readonly Scene[] = [
  firstCall,
  sameBytes,
  reordered,
  atOnce,
  otherAmount,
  otherTenant,
  unavailable,
  declined,
  killedAndHeld,
  killedAndRerun,
  askedByTheRetry,
  askedByTheSweeper,
  committedOnce,
  afterRetention,
  shippedOnce,
];

/**
 * Starts as many environments as the story needs at once: the storm's, and one for each scene that plays beside it. Cold
 * starts in the middle of it would starve, on few cores, what is played.
 */
export async function prewarm(world: World): Promise<void> {
  await world.function('holding').prewarm(storm + story.length);
  await world.function('rerunning').prewarm(1);
  await world.function('forgetful').prewarm(1);
  await world.function('shipping').prewarm(1);
}

async function open(
  world: World,
  handler: 'holding' | 'rerunning' | 'forgetful' = 'holding',
  temper: 'well' | 'slow' | 'down' | 'hangs' = 'well',
): Promise<Stage> {
  const stage = new Stage(world, handler);
  await world.setAccount(stage.account, 100, temper);
  return stage;
}

/** The money has moved, the process is gone, nobody was told; and the lease has run out. */
async function killedInMidWork(world: World, handler: 'holding' | 'rerunning'): Promise<Stage> {
  const stage = await open(world, handler, 'hangs');
  let worker: number | undefined;
  const first = stage.send({}, (pid) => {
    worker = pid;
  });
  await stage.charged(1);
  if (worker === undefined) throw new Error('no process took the order');
  process.kill(worker, 'SIGKILL');
  await first;
  await world.setAccount(stage.account, 100);
  await stage.send();
  await sleep(untilLapsed);
  return stage;
}
