import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { end, spawnBound } from '../local/children.ts';
import type { Answer } from './shop.ts';
import type { Task } from './victim.ts';

/** A process of its own, that does what it is told. */
export interface Victim {
  readonly tell: (task: Task) => void;
  /** Resolves when it has stopped at its point. */
  readonly stopped: () => Promise<void>;
  readonly answered: () => Promise<Answer>;
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>;
}

/** Starts one, ready to be told. */
export async function startVictim(): Promise<Victim> {
  const file = fileURLToPath(new URL('victim.ts', import.meta.url));
  const child = spawnBound(process.execPath, [file], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const heard: Record<string, unknown>[] = [];
  child.on('message', (message) => heard.push(message as Record<string, unknown>));
  const hear = async (name: string): Promise<unknown> => {
    for (;;) {
      const at = heard.findIndex((message) => name in message);
      if (at !== -1) return heard.splice(at, 1)[0]?.[name];
      await once(child, 'message', { signal: AbortSignal.timeout(20_000) });
    }
  };
  await hear('ready');
  return {
    tell: (task) => void child.send(task),
    stopped: async () => void (await hear('stopped')),
    answered: async () => (await hear('answer')) as Answer,
    kill: () => end(child),
  };
}
