import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, hasEnded, spawnBound } from './children.ts';

/** A DynamoDB engine on this machine. */
export interface Engine {
  readonly endpoint: string;
  readonly kind: 'dynoxide' | 'dynalite' | 'given';
  /** Whether TransactWriteItems works. */
  readonly transactions: boolean;
  /** Whether a refused write returns the item it met. */
  readonly returnsItems: boolean;
  stop(): Promise<void>;
}

/** Which engine, where there is a choice. */
export interface EngineOptions {
  readonly kind?: 'dynoxide' | 'dynalite';
  /** File that dynoxide keeps its data in; default: memory. */
  readonly dbPath?: string;
}

/**
 * Starts an engine: the one at `LAMBDA_ONCE_ENDPOINT` if that is set, else dynoxide where its binary is installed, else
 * dynalite. It listens on 127.0.0.1 only and ends with this process. `kind` overrides all that.
 */
export async function startEngine({ kind, dbPath }: EngineOptions = {}): Promise<Engine> {
  const given = process.env.LAMBDA_ONCE_ENDPOINT;
  if (given !== undefined && given !== '' && kind === undefined) {
    return { endpoint: given, kind: 'given', transactions: true, returnsItems: true, stop: async () => {} };
  }
  const binary = dynoxideBinary();
  if (kind === 'dynoxide' && binary === undefined) {
    throw new Error("dynoxide is not installed: '@dynoxide/linux-x64' is served for Linux on x64 only.");
  }
  if (kind === 'dynalite' || binary === undefined) return startDynalite();
  return startDynoxide(binary, dbPath);
}

/** What a DynamoDBClient needs to talk to an engine. */
export function localClientConfig(endpoint: string): {
  endpoint: string;
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
} {
  return { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
}

function dynoxideBinary(): string | undefined {
  try {
    // not import.meta.resolve: vitest's module runner, which loads the global setup, does not have it
    const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json');
    const binary = join(dirname(manifest), 'dynoxide');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

/** Another process may take the port between our look and the engine's start: then the next one is tried. */
async function startDynoxide(binary: string, dbPath: string | undefined): Promise<Engine> {
  const data = dbPath === undefined ? [] : ['--db-path', dbPath];
  for (let tries = 0; tries < 3; tries += 1) {
    const port = await freePort();
    const args = ['serve', '--host', '127.0.0.1', '-p', String(port), ...data];
    const child = spawnBound(binary, args, { stdio: 'ignore' });
    const endpoint = `http://127.0.0.1:${port}`;
    if (await answers(endpoint, child)) {
      return { endpoint, kind: 'dynoxide', transactions: true, returnsItems: true, stop: () => end(child) };
    }
    await end(child);
  }
  throw new Error('dynoxide did not start: three ports in a row were taken or did not answer within 10 s.');
}

/** Whether it is our child that answers: one that found its port taken has ended a moment later. */
async function answers(endpoint: string, child: ChildProcess): Promise<boolean> {
  const limit = performance.now() + 10_000;
  while (performance.now() < limit && !hasEnded(child)) {
    const answered = await fetch(endpoint, { signal: AbortSignal.timeout(1000) }).then(
      () => true,
      () => false,
    );
    await sleep(20);
    if (answered && !hasEnded(child)) return true;
  }
  return false;
}

interface Dynalite {
  listen(port: number, host: string, ready: () => void): void;
  address(): { port: number };
  close(done: () => void): void;
}

/** In this process. It knows no transactions, and its refusals come without the item. */
async function startDynalite(): Promise<Engine> {
  const { default: dynalite } = (await import('dynalite' as string)) as {
    default: (options: { createTableMs: number }) => Dynalite;
  };
  const server = dynalite({ createTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = (): Promise<void> => new Promise((resolve) => server.close(resolve));
  const endpoint = `http://127.0.0.1:${server.address().port}`;
  return { endpoint, kind: 'dynalite', transactions: false, returnsItems: false, stop };
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return port;
}
