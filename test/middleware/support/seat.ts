import { type Mock, vi } from 'vitest';
import { type HttpOptions, idempotentHttp } from '../../../src/index.ts';
import { fronts } from '../../support/http.ts';
import { type Answer, call } from './middy.ts';
import { type World, world } from './world.ts';

export type SeatOptions = Partial<HttpOptions<unknown, unknown, unknown>>;

/** `idempotentHttp` around some work, in a world of its own. */
export interface Seat extends World {
  readonly run: Mock<() => Promise<unknown>>;
  readonly seat: (event: unknown, context: unknown, middy?: unknown) => Promise<unknown>;
  /** One POST with the key `k`, the body being the same unless given. */
  readonly send: (body?: unknown, context?: object) => Promise<Answer>;
}

export function seatOf(work: () => unknown = () => ({ statusCode: 201 }), options: SeatOptions = {}): Seat {
  const all = world();
  const { store, observe } = all;
  const run = vi.fn(async () => work());
  const seat = idempotentHttp(run, { store, operation: 'place', scope: 'none', observe, ...options });
  const send: Seat['send'] = (body = 1, context) => call(seat, fronts.v1({ key: 'k', body }), context);
  return { ...all, run, seat, send };
}

export const failure = (message: string, members: object = {}): Error =>
  Object.assign(new Error(message), members);

/** Work that throws. */
export const thrower = (thrown: unknown) => (): never => {
  throw thrown;
};
