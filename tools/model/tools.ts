import { execFile, spawnSync } from 'node:child_process';

/** What a program wrote and how it ended. */
export interface Ran {
  readonly output: string;
  readonly ended: 'well' | 'badly' | 'too late';
}

/** Runs a program in a directory, and kills it when it takes longer than that. */
export function runProgram(
  program: string,
  args: readonly string[],
  { directory, seconds }: { directory: string; seconds: number },
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = {
      cwd: directory,
      timeout: seconds * 1000,
      killSignal: 'SIGKILL',
      maxBuffer: 64 * 1024 * 1024,
    } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      const ended = error === null ? 'well' : error.killed ? 'too late' : 'badly';
      resolve({ output: stdout + stderr, ended });
    });
  });
}

/** The programs that are not installed, of those the model needs. */
export function missingPrograms(): readonly string[] {
  const asked = { spin: '-V', gcc: '--version' } as const;
  return Object.entries(asked)
    .filter(([program, version]) => spawnSync(program, [version], { stdio: 'ignore' }).error !== undefined)
    .map(([program]) => program);
}
