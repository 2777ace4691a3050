import { parseArgs } from 'node:util';
import { startFrontDoor } from '../local/front-door.ts';
import type { InvokeResult } from '../local/runtime-api.ts';
import { startWorld } from './world.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '3000' } } });
const port = Number(values.port);
if (!Number.isInteger(port) || port < 1 || port > 65_535) {
  console.error(`--port must be a whole number from 1 to 65535; got "${values.port}".`);
  process.exit(2);
}

const world = await startWorld({ timeout: 29_000 });

/** The answer is a bare 502, as from API Gateway; what went wrong is said here. */
async function invokeAndTell(event: object): Promise<InvokeResult> {
  const result = await world.function('holding').invoke(event);
  if (result.kind !== 'response') console.error(`The function ended in: ${JSON.stringify(result)}`);
  return result;
}

await world.setAccount('ada', 1000);
try {
  await startFrontDoor({ port, routes: ['POST /orders'], invoke: invokeAndTell });
} catch (error) {
  console.error((error as Error).message);
  await world.stop();
  process.exit(1);
}

const order = `-X POST http://127.0.0.1:${port}/orders -H 'Content-Type: application/json'`;
console.log(`
The orders function listens on http://127.0.0.1:${port}. Account "ada" holds 1000.

  An order:                    curl -i ${order} -H 'Idempotency-Key: k1' -d '{"account":"ada","amount":20}'
  The same again, reordered:   curl -i ${order} -H 'Idempotency-Key: k1' -d '{"amount":20.0,"account":"ada"}'
  The key with another amount: curl -i ${order} -H 'Idempotency-Key: k1' -d '{"account":"ada","amount":30}'

Ctrl-C stops it and everything it started.`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void world.stop().then(() => process.exit(0));
  });
}
