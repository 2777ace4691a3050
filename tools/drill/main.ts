import { randomInt } from 'node:crypto';
import { parseArgs, styleText } from 'node:util';
import { type Cell, cells, runCell, type Shown, startWorld } from './cells.ts';
import { seededRandom, shuffled } from './random.ts';
import { runTwins } from './twins.ts';

const { values } = parseArgs({ options: { seed: { type: 'string' } } });
const seed = Number(values.seed ?? process.env.LAMBDA_ONCE_SEED ?? randomInt(1_000_000));
if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed takes a whole number from 0 on');
const random = seededRandom(seed);
const started = performance.now();
console.log(
  `\nA process is killed at each point of a payment; then a retry, a sweep, or both. Seed ${seed}.\n`,
);

const world = await startWorld();
try {
  const rest = shuffled(cells, random).values();
  const shown: Shown[] = [];
  const lane = async (): Promise<void> => {
    for (const cell of rest)
      shown.push(await runCell(world, cell, random).catch((error: Error) => broken(cell, error)));
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  const inOrder = shown.toSorted((one, other) => cells.indexOf(one.cell) - cells.indexOf(other.cell));
  for (const each of inOrder) console.log(line(each));
  const twins = await runTwins(world);
  console.log(
    `\n${mark(twins.faults)}  two at once, warm: ${twins.answers.join(' and ')}, ${twins.charges} charge ${twins.faults.join(', ')}`,
  );
  const wrong = shown.filter(({ faults }) => faults.length > 0).length + (twins.faults.length > 0 ? 1 : 0);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const verdict = wrong === 0 ? 'Exactly one charge in every cell' : `${wrong} went wrong`;
  console.log(
    `\n  ${styleText(wrong === 0 ? 'green' : 'red', verdict)}, ${shown.length} cells, seed ${seed}, in ${seconds} s.\n`,
  );
  process.exitCode = wrong === 0 ? 0 : 1;
} finally {
  await world.stop();
}
// what was cut off waits for its provider's time-outs
process.exit();

function broken(cell: Cell, error: Error): Shown {
  return { cell, charges: Number.NaN, answer: '', took: 0, faults: [error.message] };
}

function line({ cell, charges, answer, took, faults }: Shown): string {
  const provider = cell.keys === 'merged' ? 'merges keys' : 'ignores keys';
  const silent = cell.silent === undefined ? '' : ', cannot tell at first';
  const where = `${cell.point.padEnd(41)}  ${(provider + silent).padEnd(35)}  ${cell.recovery.padEnd(12)}`;
  return `${mark(faults)}  ${where}  ${charges} charge  ${(took / 1000).toFixed(1)} s  ${answer} ${faults.join('; ')}`;
}

function mark(faults: readonly string[]): string {
  return faults.length === 0 ? 'ok' : 'NO';
}
