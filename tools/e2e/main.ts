import { parseArgs, styleText } from 'node:util';
import { printTable } from '../demo/print.ts';
import type { Shown } from '../demo/scene.ts';
import { deployShop } from './deploy.ts';
import { installMinistack, type Ministack, startMinistack } from './ministack.ts';
import { quick, type Scene, slow } from './scenes.ts';
import { Shop } from './shop.ts';

const { values } = parseArgs({ options: { required: { type: 'boolean', default: false } } });
const installed = await installMinistack();
if ('missing' in installed) {
  console.log(`\n  ${values.required ? 'Failed' : 'SKIPPED'}: ${installed.missing}.\n`);
  process.exitCode = values.required ? 1 : 0;
} else {
  const ministack = await startMinistack(installed.program);
  try {
    process.exitCode = await run(ministack);
  } finally {
    await ministack.stop();
  }
}

async function run(ministack: Ministack): Promise<0 | 1> {
  const started = performance.now();
  const seconds = (): string => ((performance.now() - started) / 1000).toFixed(0);
  console.log(
    '\nThe shop of lib/shop-stack.ts, deployed by `cdk bootstrap` and `cdk deploy` onto MiniStack: real processes,',
  );
  console.log(
    'time-outs, schedules, queues and streams. Charges and parcels are counted as effects. IAM, alarms and',
  );
  console.log('capacity are not judged there.');
  const shop = new Shop(ministack.endpoint, await deployShop(ministack));
  console.log(`\nDeployed in ${seconds()} s.`);
  await Promise.all(['ann', 'bob'].map((tenant) => shop.admit(tenant)));
  await shop.redeliverAfter(10);
  const shown = await play(shop);
  printTable(shown);
  await ministack.reset();
  const wrong = shown.filter(({ faults }) => faults.length > 0).length;
  const verdict =
    wrong === 0
      ? styleText('green', 'Every count is what it must be')
      : styleText('red', `${wrong} scenes went wrong`);
  console.log(`\n  ${verdict}, in ${seconds()} s.\n`);
  return wrong === 0 ? 0 : 1;
}

async function play(shop: Shop): Promise<Shown[]> {
  const waiting = slow.map((scene) => whole(scene, shop));
  const shown: Shown[] = [];
  for (const scene of quick) shown.push(await whole(scene, shop));
  return [...shown, ...(await Promise.all(waiting))];
}

/** A scene that breaks off is a scene that went wrong. */
async function whole(scene: Scene, shop: Shop): Promise<Shown> {
  return scene(shop).catch((error: Error) => ({
    title: 'broke off',
    sent: 0,
    effects: 0,
    answers: new Map(),
    faults: [error.message],
  }));
}
