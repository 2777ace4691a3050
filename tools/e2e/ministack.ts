import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { hasEnded, spawnBound } from '../local/children.ts';
import { freePort } from '../local/engine.ts';

/** An AWS of its own on this machine: functions are processes, schedules fire, time-outs kill. IAM is not judged. */
export interface Ministack {
  readonly endpoint: string;
  /** What a command or a client needs to talk to it, and to nothing else. */
  readonly environment: Readonly<Record<string, string>>;
  reset(): Promise<void>;
  stop(): Promise<void>;
}

const version = '1.5.33';

/** Gone with node_modules, so it never grows old unseen. */
const venv: string = join(import.meta.dirname, `../../node_modules/.cache/lambda-once/ministack-${version}`);

const run: typeof execFile.__promisify__ = promisify(execFile);

/** The program, in a virtual environment of its own; or why it cannot be had. */
export async function installMinistack(): Promise<
  { readonly program: string } | { readonly missing: string }
> {
  const program = join(venv, 'bin/ministack');
  if (existsSync(program)) return { program };
  const python = ['python3', 'python'].find(isRecent);
  if (python === undefined) return { missing: 'it needs Python 3.10 or newer' };
  try {
    await run(python, ['-m', 'venv', venv], { timeout: 60_000 });
    const install = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      `ministack==${version}`,
    ];
    await run(join(venv, 'bin/python'), install, { timeout: 180_000 });
    return { program };
  } catch (error) {
    await rm(venv, { recursive: true, force: true });
    const { stderr = '' } = error as { stderr?: string };
    const [last = 'no answer'] = stderr.trim().split('\n').slice(-1);
    return { missing: `ministack ${version} could not be installed with pip: ${last}` };
  }
}

function isRecent(python: string): boolean {
  const check = 'import sys, venv; sys.exit(sys.version_info < (3, 10))';
  return spawnSync(python, ['-c', check], { stdio: 'ignore' }).status === 0;
}

/** Starts it on 127.0.0.1. It ends with this process. */
export async function startMinistack(program: string): Promise<Ministack> {
  const directory = await mkdtemp(join(tmpdir(), 'lambda-once-e2e-'));
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const child = spawnBound(program, [], {
    stdio: 'ignore',
    env: {
      // its functions run with the first `node` that it finds
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: directory,
      TMPDIR: directory,
      BIND_HOST: '127.0.0.1',
      MINISTACK_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
    },
  });
  const stop = async (): Promise<void> => {
    // told first, so that it ends the functions that it started
    child.kill('SIGTERM');
    for (let look = 0; look < 100 && !hasEnded(child); look += 1) await sleep(100);
    child.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  };
  const health = `${endpoint}/_ministack/health`;
  const limit = performance.now() + 30_000;
  while (
    !(await fetch(health).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (hasEnded(child) || performance.now() > limit) {
      await stop();
      throw new Error('MiniStack did not start within 30 s.');
    }
    await sleep(100);
  }
  return { endpoint, environment: environmentFor(endpoint), reset: () => reset(endpoint), stop };
}

async function reset(endpoint: string): Promise<void> {
  const { ok, status } = await fetch(`${endpoint}/_ministack/reset`, { method: 'POST' });
  if (!ok) throw new Error(`MiniStack answered the reset with ${status}.`);
}

/** Nothing of the caller's AWS configuration gets in: a mistake here must not reach an account. */
function environmentFor(endpoint: string): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(AWS|CDK)_/.test(entry[0]),
  );
  return {
    ...Object.fromEntries(inherited),
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}
