import { styleText } from 'node:util';
import { printTable } from './print.ts';
import { prewarm, story } from './story.ts';
import { startWorld } from './world.ts';

const started = performance.now();
console.log(
  '\nAn orders function in real processes, on a real DynamoDB engine. Each order charges an account;',
);
console.log(
  'every charge is an item in a ledger, and the ledger is what is counted as effects. A shipping function',
);
console.log('behind an SQS queue books a parcel for each order; there the parcels are counted.');

const world = await startWorld();
try {
  await prewarm(world);
  const shown = await Promise.all(story.map((scene) => scene(world)));
  printTable(shown);
  const wrong = shown.filter(({ faults }) => faults.length > 0).length;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const verdict =
    wrong === 0
      ? styleText('green', 'Every count is what it must be')
      : styleText('red', `${wrong} scenes went wrong`);
  console.log(`\n  ${verdict}, on ${world.engine.kind}, in ${seconds} s.`);
  console.log('  Next: `npm start` and talk to it yourself.\n');
  process.exitCode = wrong === 0 ? 0 : 1;
} finally {
  await world.stop();
}
