import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { end, hasEnded, spawnBound } from './children.ts';
import { Mailbox } from './mailbox.ts';
import { type InitError, type InvokeResult, initErrorOf, type Message, resultOf } from './result.ts';
import { type Invocation, type RuntimeServer, serveRuntime } from './runtime-server.ts';
import { variablesOf } from './variables.ts';

/** What every environment of a function has in common. */
export interface EnvironmentSettings {
  readonly file: string;
  readonly handlerName: string;
  readonly name: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** Megabytes; told to the handler, not enforced. */
  readonly memory: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly log: ((line: string, pid: number) => void) | undefined;
}

/** Lambda allows 10 s; many processes that start at once on few cores need more. */
const startLimit = 60_000;

/** How long a runtime that has answered may take to ask for more, beside what is left of its timeout. */
const pollLimit = 2000;

const bootstrap = fileURLToPath(new URL('bootstrap.ts', import.meta.url));

/** One execution environment: a process and its own Runtime API. It runs one invocation at a time. */
export class Environment {
  readonly #settings: EnvironmentSettings;
  readonly #messages = new Mailbox<Message>();
  #server: RuntimeServer | undefined;
  #child: ChildProcess | undefined;
  #give: ((invocation: Invocation) => void) | undefined;
  #busy = false;
  #ended = false;

  constructor(settings: EnvironmentSettings) {
    this.#settings = settings;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether an invocation runs in it. */
  get busy(): boolean {
    return this.#busy;
  }

  /** Whether it polls for an invocation. */
  get idle(): boolean {
    return this.#give !== undefined && this.#child !== undefined && !hasEnded(this.#child);
  }

  /** Resolves when it polls for its first invocation, or with the reason why it never will; then it is gone. */
  async start(): Promise<InitError | undefined> {
    this.#server = await serveRuntime((message) => this.#messages.put(message));
    if (!this.#ended) this.#spawn(this.#server);
    const message = this.#ended ? undefined : await this.#messages.next(startLimit);
    if (message?.kind === 'poll') {
      this.#give = message.give;
      return undefined;
    }
    await this.end();
    return initErrorOf(message, this.pid);
  }

  /**
   * Runs one invocation in an idle environment. At the timeout the process is killed for real. `started` hears the
   * process id as the invocation is handed over.
   */
  async run(payload: string, started?: (pid: number) => void): Promise<InvokeResult> {
    const give = this.#give;
    const pid = this.pid;
    if (give === undefined || pid === undefined) throw new Error('the environment is not idle');
    this.#give = undefined;
    this.#busy = true;
    const began = performance.now();
    const invocation = this.#invocation(payload);
    give(invocation);
    started?.(pid);
    const message = await this.#messages.next(this.#settings.timeout);
    const result = resultOf(message, pid, performance.now() - began);
    const answered = message?.kind === 'response' || message?.kind === 'error';
    await (answered ? this.#pollAgain(invocation.deadline) : this.end());
    this.#busy = false;
    return result;
  }

  /** Kills the process by its id, waits until it is gone, and closes its Runtime API. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#give = undefined;
    if (this.#child !== undefined) await end(this.#child);
    this.#server?.close();
  }

  /** An invocation is over when the runtime asks for the next one: only then may it be given one. */
  async #pollAgain(deadline: number): Promise<void> {
    const message = await this.#messages.next(Math.max(pollLimit, deadline - Date.now()));
    if (message?.kind === 'poll' && !this.#ended) this.#give = message.give;
    else await this.end();
  }

  #invocation(payload: string): Invocation {
    return {
      id: randomUUID(),
      payload,
      deadline: Date.now() + this.#settings.timeout,
      functionArn: `arn:aws:lambda:us-east-1:000000000000:function:${this.#settings.name}`,
      traceId: `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${hex(12)};Parent=${hex(8)};Sampled=0`,
    };
  }

  #spawn(server: RuntimeServer): void {
    const { file, handlerName, log } = this.#settings;
    const output = log === undefined ? 'ignore' : 'pipe';
    const child = spawnBound(process.execPath, [bootstrap, file, handlerName], {
      cwd: dirname(file),
      env: variablesOf(this.#settings, server.address),
      stdio: ['pipe', output, output],
    });
    this.#child = child;
    child.once('error', () => this.#messages.put({ kind: 'exit', code: null, signal: null }));
    child.once('exit', (code, signal) => {
      server.close();
      this.#messages.put({ kind: 'exit', code, signal });
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface(stream).on('line', (line) => log?.(line, child.pid ?? 0));
    }
  }
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
