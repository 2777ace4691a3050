import { expect } from 'vitest';
import { idempotency, idempotent, idempotentHttp, isIdempotencyError } from '../../../src/index.ts';
import { memoryStore } from '../../../src/testing.ts';

/** Options as a program without types may give them. */
export type Options = Record<string, unknown>;

/** A text that no message may hold. */
export const secret = 'secret-4711';

export const run = (): undefined => undefined;

/** Every adapter with the options that it needs; what is given replaces or, as `undefined`, removes. */
export const adapters: Record<string, (options: Options) => unknown> = {
  idempotentHttp: (options) =>
    idempotentHttp(run, { store: memoryStore(), operation: 'place', scope: 'none', ...options } as never),
  idempotency: (options) =>
    idempotency({ store: memoryStore(), operation: 'place', scope: 'none', ...options } as never),
  idempotent: (options) =>
    idempotent(run, { store: memoryStore(), operation: 'place', key: () => 'k', ...options } as never),
};

/** The message of the refusal. */
export function refusal(build: () => unknown): string {
  try {
    build();
  } catch (error) {
    if (!isIdempotencyError(error)) throw error;
    expect(error).toMatchObject({ code: 'options', status: 500 });
    return error.message;
  }
  return 'nothing was refused';
}
