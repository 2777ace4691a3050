import type { RuntimeMessage } from './runtime-server.ts';

/** An error as a runtime describes it. */
export interface RuntimeError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly stackTrace: readonly string[];
}

/** The environment never came to ask for an invocation. `pid` is missing when there was not even a process. */
export interface InitError extends RuntimeError {
  readonly kind: 'init-error';
  readonly pid: number | undefined;
}

/** How an invocation ended. `milliseconds` counts from when the environment was given it, without the cold start. */
export type InvokeResult =
  | {
      readonly kind: 'response';
      readonly payload: unknown;
      readonly pid: number;
      readonly milliseconds: number;
    }
  | ({ readonly kind: 'error'; readonly pid: number; readonly milliseconds: number } & RuntimeError)
  | { readonly kind: 'timeout'; readonly pid: number; readonly milliseconds: number }
  | {
      readonly kind: 'exit';
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly pid: number;
      readonly milliseconds: number;
    }
  | InitError;

/** What an environment's runtime or process does next. */
export type Message =
  | RuntimeMessage
  | { readonly kind: 'exit'; readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Reads what came after an invocation was handed over; nothing means that its time ran out. */
export function resultOf(message: Message | undefined, pid: number, milliseconds: number): InvokeResult {
  if (message === undefined) return { kind: 'timeout', pid, milliseconds };
  switch (message.kind) {
    case 'response':
      return { kind: 'response', payload: JSON.parse(message.body) as unknown, pid, milliseconds };
    case 'error':
      return { kind: 'error', ...(JSON.parse(message.body) as RuntimeError), pid, milliseconds };
    case 'exit':
      return { kind: 'exit', code: message.code, signal: message.signal, pid, milliseconds };
    case 'poll':
    case 'init-error':
      return {
        kind: 'error',
        ...described('Runtime.OutOfTurn', `"${message.kind}" is no answer`),
        pid,
        milliseconds,
      };
    default:
      return message satisfies never;
  }
}

/** Reads what came instead of a first poll; nothing means that the start took too long, or was called off. */
export function initErrorOf(message: Message | undefined, pid: number | undefined): InitError {
  if (message?.kind === 'init-error') {
    return { kind: 'init-error', ...(JSON.parse(message.body) as RuntimeError), pid };
  }
  const error =
    message?.kind === 'exit'
      ? described('Runtime.ExitError', `the process ended before it asked for work: ${endOf(message)}`)
      : described('Sandbox.Timedout', 'the environment was not ready in time, or was stopped before it was');
  return { kind: 'init-error', ...error, pid };
}

function endOf({ code, signal }: { code: number | null; signal: NodeJS.Signals | null }): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

function described(errorType: string, errorMessage: string): RuntimeError {
  return { errorType, errorMessage, stackTrace: [] };
}
