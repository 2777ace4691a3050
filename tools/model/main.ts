import { availableParallelism } from 'node:os';
import { parseArgs, styleText } from 'node:util';
import type { Configuration } from './configuration.ts';
import { configurations } from './configurations.ts';
import { search } from './search.ts';
import { isAsExpected, printTable, type Row } from './table.ts';
import { missingPrograms } from './tools.ts';

const usage = `
  npm run model                           searches every configuration
  npm run model -- <configuration>...     searches some
  npm run model -- --trail <configuration>  prints its counterexample

  Configurations: ${configurations.map(({ name }) => name).join(', ')}
`;

process.exitCode = await main();

async function main(): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    options: { trail: { type: 'string' } },
    allowPositionals: true,
  });
  const names = values.trail === undefined ? positionals : [values.trail];
  const unknown = names.filter((name) => configurations.every((known) => known.name !== name));
  if (unknown.length > 0) {
    console.error(`\n  There is no configuration ${unknown.join(', ')}.\n${usage}`);
    return 1;
  }
  const missing = missingPrograms();
  if (missing.length > 0) {
    console.error(`\n  The model needs spin and gcc. Not installed: ${missing.join(', ')}.`);
    console.error('  On Debian and Ubuntu: apt-get install spin gcc\n');
    return 1;
  }
  const chosen = configurations.filter(({ name }) => names.length === 0 || names.includes(name));
  return values.trail === undefined ? searchAll(chosen) : printTrail(chosen);
}

async function searchAll(chosen: readonly Configuration[]): Promise<0 | 1> {
  const started = performance.now();
  console.log(`\n  ${chosen.length} configurations of docs/model/once.pml, each through every state.`);
  const rows = await inParallel(chosen, availableParallelism());
  printTable(rows);
  const wrong = rows.filter((row) => !isAsExpected(row)).length;
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const verdict =
    wrong === 0
      ? styleText('green', 'Everything is as expected')
      : styleText('red', `${wrong} are not as expected`);
  console.log(
    `\n  ${verdict}, in ${seconds} s. A counterexample: npm run model -- --trail <configuration>\n`,
  );
  return wrong === 0 ? 0 : 1;
}

/** In order of the configurations, at most so many at once: each search takes a processor, and memory. */
async function inParallel(chosen: readonly Configuration[], atOnce: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const waiting = chosen.entries();
  const worker = async (): Promise<void> => {
    for (const [index, configuration] of waiting) {
      const started = performance.now();
      const seen = await search(configuration);
      rows[index] = { configuration, seen, seconds: (performance.now() - started) / 1000 };
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, 4) }, worker));
  return rows;
}

async function printTrail([configuration]: readonly Configuration[]): Promise<0 | 1> {
  if (configuration === undefined) return 1;
  const seen = await search(configuration);
  switch (seen.kind) {
    case 'holds':
      console.log(`\n  ${configuration.name} holds: there is no counterexample.\n`);
      return configuration.expected.kind === 'holds' ? 0 : 1;
    case 'breaks':
      console.log(`\n${seen.story.join('\n')}\n\n  Broken: ${seen.promised}\n`);
      return isAsExpected({ configuration, seen, seconds: 0 }) ? 0 : 1;
    case 'failed':
      console.error(`\n  ${seen.why}\n`);
      return 1;
    default:
      return seen satisfies never;
  }
}
