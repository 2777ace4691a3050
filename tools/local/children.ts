import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';

const living = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Where util-linux is at hand, the kernel kills a child whose parent dies in a way that runs no code, as by SIGKILL. */
let guard: readonly string[] | undefined;

/**
 * Starts a process that does not outlive this one. Its process id is the command's own. A command that cannot be started
 * shows as one that has ended.
 */
export function spawnBound(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  guard ??= findGuard();
  const [program = command, ...rest] = [...guard, command, ...args];
  const child = spawn(program, rest, options);
  living.add(child);
  child.once('error', () => living.delete(child));
  child.once('exit', () => living.delete(child));
  return child;
}

/** By its full path, since a child is looked up on the PATH that it is given. */
function findGuard(): readonly string[] {
  const setpriv = ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] as const;
  const [program, ...args] = setpriv;
  return spawnSync(program, [...args, 'true'], { stdio: 'ignore' }).status === 0 ? setpriv : [];
}

/** Whether a child has ended, or never began. */
export function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Kills the very process that was started, and resolves when it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
