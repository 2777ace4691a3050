import { inject, onTestFinished, vi } from 'vitest';
import { freshTable, type TestTable } from '../support/table.ts';

/** The environment of a deployed function: a table of its own, on the engine of this run. */
export async function deploy(): Promise<TestTable> {
  const table = await freshTable();
  const variables = {
    LAMBDA_ONCE_TABLE: table.tableName,
    AWS_ENDPOINT_URL_DYNAMODB: inject('engine').endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  // an example builds its store at import: each test has its own
  vi.resetModules();
  return table;
}

/** One request to the outside world. */
export interface Sent {
  readonly url: string;
  readonly key: string | undefined;
  readonly body: unknown;
}

/** The outside world: takes everything, except bodies that hold one of these texts. */
export function outside(...refused: string[]): { readonly sent: Sent[]; readonly repair: () => void } {
  const sent: Sent[] = [];
  let broken = refused;
  const answer = vi.fn(async (url: string, init: { headers?: Record<string, string>; body: string }) => {
    if (broken.some((text) => init.body.includes(text))) return new Response('', { status: 503 });
    sent.push({ url, key: init.headers?.['Idempotency-Key'], body: JSON.parse(init.body) });
    return new Response('', { status: 201 });
  });
  vi.stubGlobal('fetch', answer);
  onTestFinished(() => void vi.unstubAllGlobals());
  return {
    sent,
    repair: () => {
      broken = [];
    },
  };
}
