import { basename, extname, resolve } from 'node:path';
import { Environment, type EnvironmentSettings } from './environment.ts';
import type { InitError, InvokeResult } from './result.ts';

export type { InitError, InvokeResult } from './result.ts';

/** A function to run on this machine. */
export interface FunctionOptions {
  /** The module, as a path; Node must be able to run it as it stands. */
  readonly file: string;
  /** The module's export. */
  readonly handlerName: string;
  /** Milliseconds from the hand-over of an invocation until its process is killed. */
  readonly timeout: number;
  /** Variables beside those that Lambda sets itself. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Megabytes; told to the handler, not enforced. Default: 512. */
  readonly memory?: number;
  /** Default: the file's name without its extension. */
  readonly name?: string;
  /** How many environments there may be at once; further invocations wait for one. Default: 50. */
  readonly concurrency?: number;
  /** Hears every line that a process writes. Default: nobody does. */
  readonly log?: (line: string, pid: number) => void;
}

/** What one invocation may ask for. */
export interface InvokeOptions {
  /** Hears the process id of the environment, as this invocation is handed to it. */
  readonly started?: (pid: number) => void;
}

/** Starts a function. It costs no process until it is invoked or prewarmed; `stop` it in the end. */
export function startFunction(options: FunctionOptions): LambdaFunction {
  return new LambdaFunction(options);
}

/** A function as Lambda runs it: real processes, each with one invocation at a time, kept warm, killed at the timeout. */
export class LambdaFunction {
  readonly #settings: EnvironmentSettings;
  readonly #concurrency: number;
  readonly #environments = new Set<Environment>();
  readonly #idle: Environment[] = [];
  readonly #waiting: (() => void)[] = [];
  #stopped = false;

  constructor(options: FunctionOptions) {
    const { file, handlerName, timeout, environment = {}, memory = 512, concurrency = 50, log } = options;
    const { name = basename(file, extname(file)) } = options;
    this.#settings = { file: resolve(file), handlerName, timeout, environment, memory, name, log };
    this.#concurrency = concurrency;
  }

  /**
   * Runs the handler once and says how that ended. It always ends: a start has 60 s, an invocation its timeout. Rejects
   * only when the function is stopped before the invocation got an environment, or the event is no JSON.
   */
  async invoke(event: unknown, { started }: InvokeOptions = {}): Promise<InvokeResult> {
    const payload = JSON.stringify(event) ?? 'null';
    const environment = await this.#acquire();
    if (isInitError(environment)) return environment;
    const result = await environment.run(payload, started);
    this.#giveBack(environment);
    return result;
  }

  /** Starts environments, all at once, until so many are idle; resolves when every one of them polls. */
  async prewarm(count: number): Promise<void> {
    this.#dropDead();
    const room = this.#concurrency - this.#environments.size + this.#idle.length;
    if (count > room)
      throw new Error(`prewarm(${count}): only ${room} of ${this.#concurrency} environments are free`);
    const missing = Math.max(0, count - this.#idle.length);
    const started = await Promise.all(Array.from({ length: missing }, () => this.#start()));
    for (const environment of started) {
      if (!isInitError(environment)) this.#giveBack(environment);
    }
    const failed = started.find(isInitError);
    if (failed !== undefined) throw new Error(`prewarm: ${failed.errorType}: ${failed.errorMessage}`);
  }

  /** The processes there are. */
  environments(): { pid: number; busy: boolean }[] {
    this.#dropDead();
    return [...this.#environments].flatMap(({ pid, busy }) => (pid === undefined ? [] : [{ pid, busy }]));
  }

  /** Kills every process by its id and waits until all are gone. What was running ends as an `exit`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all([...this.#environments].map((environment) => environment.end()));
  }

  /** An idle environment if there is one, else a new one, which this invocation waits for whatever else becomes idle. */
  async #acquire(): Promise<Environment | InitError> {
    for (;;) {
      this.#dropDead();
      const idle = this.#idle.pop();
      if (idle !== undefined) return idle;
      if (this.#environments.size < this.#concurrency) return this.#start();
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }

  async #start(): Promise<Environment | InitError> {
    if (this.#stopped) throw new Error(`the function ${this.#settings.name} is stopped`);
    const environment = new Environment(this.#settings);
    this.#environments.add(environment);
    const failed = await environment.start();
    if (failed === undefined) return environment;
    this.#giveBack(environment);
    return failed;
  }

  #giveBack(environment: Environment): void {
    if (environment.idle) this.#idle.push(environment);
    else this.#environments.delete(environment);
    this.#waiting.shift()?.();
  }

  /** A process may die while it is idle: by a signal, or by what its handler left running. */
  #dropDead(): void {
    for (const dead of this.#idle.filter(({ idle }) => !idle)) {
      this.#idle.splice(this.#idle.indexOf(dead), 1);
      this.#environments.delete(dead);
    }
  }
}

function isInitError(started: Environment | InitError): started is InitError {
  return !(started instanceof Environment);
}
