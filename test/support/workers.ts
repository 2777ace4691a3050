import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** A real process that runs a script of `test/processes` with this very Node. */
export interface WorkerProcess {
  /** Tells it something. */
  tell(message: object): void;
  /** What it says next. Fails when it ends without a word. */
  hear<Message>(): Promise<Message>;
  /** It stands still, and goes on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** SIGKILL, as Lambda does at the timeout. Resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts a script of `test/processes`; its process never outlives the test. */
export function startWorker(script: string): WorkerProcess {
  const path = fileURLToPath(new URL(`../processes/${script}`, import.meta.url));
  const env = { PATH: process.env.PATH };
  const child = fork(path, {
    execPath: process.execPath,
    execArgv: [],
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const kill = (): Promise<void> => end(child);
  onTestFinished(kill);
  const inbox: unknown[] = [];
  child.on('message', (message) => inbox.push(message));
  let complaints = '';
  child.stderr?.on('data', (text) => (complaints += String(text)));
  return {
    tell: (message) => void child.send(message),
    async hear<Message>() {
      if (inbox.length === 0) await Promise.race([once(child, 'message'), once(child, 'exit')]);
      if (inbox.length === 0) throw new Error(`${script} ended without a word: ${complaints}`);
      return inbox.shift() as Message;
    },
    signal: (signal) => void child.kill(signal),
    kill,
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
