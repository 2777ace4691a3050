import { styleText } from 'node:util';
import { startEngine } from '../../tools/local/engine.ts';
import { libraries, ours } from './libraries.ts';
import { type Scenario, type Shown, scenarios, storm } from './scenarios.ts';

process.env.POWERTOOLS_DEV = 'true';
const engine = await startEngine();
try {
  console.log(`\n| # | scenario | ${libraries.map(({ name }) => name).join(' | ')} | must |`);
  console.log(`|---|---|${libraries.map(() => '---|').join('')}---|`);
  let wrong = 0;
  for (const scenario of [...scenarios, storm]) {
    const shown: Shown[] = [];
    for (const library of libraries) shown.push(await scenario.play(library, engine.endpoint));
    const own = shown[libraries.indexOf(ours)];
    if (own === undefined || !isAsItMust(own, scenario)) wrong += 1;
    const cells = [...shown, scenario.must].map(inWords);
    console.log(`| ${scenario.id} | ${scenario.title} | ${cells.join(' | ')} |`);
  }
  const verdict =
    wrong === 0
      ? styleText('green', 'lambda-once does what it must in every row')
      : styleText('red', `lambda-once differs in ${wrong} rows`);
  console.log(`\n  ${verdict}, on ${engine.kind}.\n`);
  process.exitCode = wrong === 0 ? 0 : 1;
} finally {
  await engine.stop();
}
process.exit();

function isAsItMust({ executions, last }: Shown, { must }: Scenario): boolean {
  return executions === must.executions && last === must.last;
}

function inWords({ executions, last }: Shown): string {
  const ran = `${executions} ${executions === 1 ? 'run' : 'runs'}`;
  return last === '' ? ran : `${ran}, ${last}`;
}
