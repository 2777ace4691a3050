import { defineEffect, dynamoStore, idempotent, isIdempotencyError, type Store } from '../../src/index.ts';

/** What a process is about to do when it is stopped. */
export type Act = 'commit' | 'complete' | 'release' | 'capture' | 'begin' | 'run' | 'reference' | 'done';

export interface Orders {
  readonly endpoint: string;
  readonly tableName: string;
  readonly act: Act;
}

/** Milliseconds. */
export const lease = 500;
export const skew = 20;

const woken = Promise.withResolvers<void>();

/** Says that it is there, and goes on when it is told to: in between it is stopped, and somebody else takes over. */
async function pause(): Promise<void> {
  process.send?.({ paused: true });
  await woken.promise;
}

process.on('message', (message: Orders | { readonly go: true }) => {
  if ('go' in message) woken.resolve();
  else void work(message);
});

async function work({ endpoint, tableName, act }: Orders): Promise<void> {
  process.env.AWS_ACCESS_KEY_ID = 'local';
  process.env.AWS_SECRET_ACCESS_KEY = 'local';
  let runs = 0;
  const effect = defineEffect({
    name: 'charge',
    run: async (_input: object, { reference }) => {
      runs += 1;
      if (act === 'reference' || act === 'done') await pause();
      if (act === 'reference') await reference('zombie');
      return 'zombie';
    },
    reconcile: () => 'unknown',
  });
  const table = dynamoStore({ endpoint, tableName, region: 'us-east-1' });
  const once = idempotent(
    async (_input: object, claim) => {
      if (['capture', 'begin', 'complete', 'release', 'commit'].includes(act)) await pause();
      if (act === 'commit')
        return claim.commit('zombie', [{ Put: { TableName: tableName, Item: { id: 'zombie' } } }]);
      if (act === 'release') throw new Error('a passing failure');
      if (act === 'capture') return claim.capture('at', () => 'zombie');
      return act === 'complete' ? 'zombie' : claim.perform(effect, {});
    },
    {
      store: act === 'run' ? pausingAfterBegin(table) : table,
      operation: 'zombie',
      key: () => 'k',
      lease: { milliseconds: lease },
      skew: { milliseconds: skew },
      onLapse: 'rerun',
    },
  );
  const told = await once({}).catch((error: unknown) =>
    isIdempotencyError(error) ? error.code : (error as Error).message,
  );
  process.send?.({ told, runs });
}

/** Stops right after "begun" was written, before the effect is sent. */
function pausingAfterBegin(store: Store): Store {
  return {
    ...store,
    write: async (transition, limits) => {
      const written = await store.write(transition, limits);
      if (transition.kind === 'note') await pause();
      return written;
    },
  };
}
