import { afterAll, beforeAll, expect, test } from 'vitest';
import { cells, runCell, type Shown, startWorld, type World } from '../../tools/drill/cells.ts';
import { seededRandom, shuffled } from '../../tools/drill/random.ts';
import { runTwins } from '../../tools/drill/twins.ts';

const seed = Number(process.env.LAMBDA_ONCE_SEED ?? Date.now() % 1_000_000);
const random = seededRandom(seed);
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

test(`drill 1: killed at each point, each provider and recovery: one charge, the right answer (seed ${seed})`, async () => {
  const rest = shuffled(cells, random).values();
  const shown: Shown[] = [];
  const lane = async (): Promise<void> => {
    for (const cell of rest) shown.push(await runCell(world, cell, random));
  };
  await Promise.all(Array.from({ length: 5 }, lane));
  const wrong = shown
    .filter(({ faults }) => faults.length > 0)
    .map(({ cell, faults }) => ({ ...cell, faults }));
  expect(wrong).toEqual([]);
  expect(shown).toHaveLength(7 * 2 * 3 + 2);
}, 90_000);

test('negative control: the same drill sees the second charge of a handler without the journal', async () => {
  const cell = { point: 'during the effect', keys: 'ignored', recovery: 'a retry', naive: true } as const;
  const { charges, faults } = await runCell(world, cell, random);
  expect({ charges, faults }).toEqual({ charges: 2, faults: expect.arrayContaining(['2 charges']) });
});

test('drill 2: of two identical requests on a warm system, one sees the live claim', async () => {
  expect(await runTwins(world)).toMatchObject({ charges: 1, faults: [] });
});
