import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Fate, type Plan, planRun } from './sqs-run-plan.ts';
import { type RunWorld, startRun } from './sqs-run-world.ts';

/** Printed with each run; give it again to run the same plan. (What the machine interleaves stays the machine's.) */
const seed = Number(process.env.LAMBDA_ONCE_SEED ?? randomInt(2 ** 32));

const shares = { twice: 0.1, slow: 0.05, killed: 0.03, stubborn: 0.01 };
const byText = (one: string, other: string): number => one.localeCompare(other);

/** One effect for each business key: no more, and none lost. */
function checkEffects(effects: readonly string[], plan: Plan): void {
  const keys = plan.orders.map(({ orderId }) => orderId);
  expect(effects.toSorted(byText), 'effects').toEqual(keys.toSorted(byText));
}

/**
 * Nobody overtakes within a group, except those that the broker took out of it: a dead-letter queue on a FIFO queue gives
 * up the order for its messages.
 */
async function checkOrder(world: RunWorld, plan: Plan, redriven: ReadonlySet<string>): Promise<void> {
  const happened = await world.happened();
  for (const [group, order] of plan.groups) {
    const inPlace = (keys: readonly string[] = []): string[] => keys.filter((key) => !redriven.has(key));
    expect(inPlace(happened.get(group)), `order in ${group}`).toEqual(inPlace(order));
  }
}

async function sendAll(world: RunWorld, plan: Plan): Promise<void> {
  await Promise.all([world.send('standard', plan.standard), world.send('fifo', plan.fifo)]);
}

test('Q07: 2,200 messages for 2,000 orders, through kills, redeliveries and a redrive: one effect each', async () => {
  console.log(`sqs-run: LAMBDA_ONCE_SEED=${seed}`);
  const began = performance.now();
  const plan = planRun(seed, { standard: 1400, groups: 40, perGroup: 15, shares });
  const world = await startRun();
  await world.consume({ handlerName: 'handler', isRepaired: false }, sendAll(world, plan));
  const redriving = world.redrive();
  await world.consume({ handlerName: 'handler', isRepaired: true }, redriving);
  const dead = await redriving;
  print(world, plan, dead.length, began);

  checkEffects(await world.effects(), plan);
  const redriven = new Set(dead.map(({ orderId }) => orderId));
  await checkOrder(world, plan, redriven);
  expect(await world.redrive(), 'left in the dead-letter queues').toEqual([]);
  const states = (await world.table.records()).map(({ state }) => state);
  expect(states).toEqual(Array(plan.orders.length).fill('completed'));

  // and all of it did happen: the faults were not just planned
  const planned = (fate: Fate): string[] =>
    plan.orders.filter((order) => order.fate === fate).map(({ orderId }) => orderId);
  expect([...redriven]).toEqual(expect.arrayContaining(planned('stubborn')));
  const { redeliveries, invocations, events } = world.numbers;
  // a bystander's kill may come before an order's own
  const kills = planned('killed').length / 2;
  expect(invocations.get('exit'), 'kills').toBeGreaterThan(kills);
  expect(events.get('claimed lapsed'), 'claims taken over').toBeGreaterThan(kills);
  expect(redeliveries, 'redeliveries').toBeGreaterThan(planned('slow').length);
  expect(events.get('busy'), 'deliveries that met their own run').toBeGreaterThan(0);
  expect(events.get('replayed'), 'replays').toBeGreaterThan(plan.orders.length * shares.twice * 0.9);
}, 120_000);

test('Q07, negative control: with the message id as the key a second copy has a second effect, and the check sees it', async () => {
  const calm = { twice: 0.1, slow: 0, killed: 0, stubborn: 0 };
  const plan = planRun(seed, { standard: 50, groups: 5, perGroup: 10, shares: calm });
  const world = await startRun();
  await world.consume({ handlerName: 'byMessageId', isRepaired: true }, sendAll(world, plan));
  const effects = await world.effects();
  expect(effects).toHaveLength(110);
  expect(() => checkEffects(effects, plan)).toThrow(/effects/);
});

function print({ numbers }: RunWorld, plan: Plan, dead: number, began: number): void {
  const { deliveries, redeliveries, invocations, events } = numbers;
  const sum = (counts: ReadonlyMap<string, number>): number =>
    [...counts.values()].reduce((one, other) => one + other, 0);
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
  console.log(`sqs-run: ${plan.standard.length + plan.fifo.length} messages for ${plan.orders.length} orders
  ${deliveries} deliveries in ${sum(invocations)} invocations, ${redeliveries} of them redeliveries; ${dead} redriven
  invocations: ${list(invocations)}
  events: ${list(events)}
  ${((performance.now() - began) / 1000).toFixed(1)} s`);
}
