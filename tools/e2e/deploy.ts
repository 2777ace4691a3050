import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Ministack } from './ministack.ts';

/** Outputs of the stack, by name. */
export type Outputs = Readonly<Record<string, string>>;

const run: typeof execFile.__promisify__ = promisify(execFile);

/** What a user types, `cdk bootstrap` and `cdk deploy`, but that alarms with metric math are left out. */
export async function deployShop({ environment }: Ministack): Promise<Outputs> {
  const directory = await mkdtemp(join(tmpdir(), 'lambda-once-cdk-'));
  const cdk = async (...args: string[]): Promise<void> => {
    const options = { env: { ...environment, CI: 'true' }, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 };
    await run('npx', ['cdk', ...args, '--output', join(directory, 'out')], options).catch(
      ({ stdout = '', stderr = '' }: { stdout?: string; stderr?: string }) => {
        const last = (stdout + stderr).trim().split('\n').slice(-40).join('\n');
        throw new Error(`cdk ${args[0]} failed:\n${last}`);
      },
    );
  };
  try {
    const outputs = join(directory, 'outputs.json');
    await cdk('bootstrap', 'aws://000000000000/us-east-1');
    await cdk('deploy', '-c', 'mathAlarms=false', '--require-approval', 'never', '--outputs-file', outputs);
    return (JSON.parse(await readFile(outputs, 'utf8')) as { OnceShop: Outputs }).OnceShop;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
