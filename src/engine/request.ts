import { clientOf, type Identity, recordId } from '../domain/identity.ts';
import { longestQuestion } from './ask.ts';
import type { Operation } from './operation.ts';

/** One delivery that wants to run. Its identity is settled here, before anybody can change the event. */
export interface Request {
  readonly operation: Operation;
  readonly identity: Identity;
  readonly id: string;
  readonly fingerprint: string | undefined;
  /** Epoch milliseconds of the store's clock at which the invocation ends; `undefined` without a Lambda deadline. */
  readonly deadline: number | undefined;
  /** Middy's signal of its early timeout. */
  readonly signal?: AbortSignal;
}

/** The part of a Lambda context that matters here. */
export interface LambdaContext {
  getRemainingTimeInMillis?(): number;
}

/** Lambda's longest timeout; a larger number is no remaining time but a mistake. */
const longestInvocation = 15 * 60_000;

/** Lambda kills a function some time after its deadline, not at it. */
const grace = 2000;

/** Less than this and the claim alone would outlast the invocation. */
const floor = 25;

/** The store call that matters most gets this long at the most, so that a store that is down is told within two seconds. */
const longestCall = 1400;

/** A delivery's request, from what an adapter found out about it. */
export function newRequest(
  operation: Operation,
  { scope, key }: { readonly scope: string; readonly key: string },
  fingerprint: string | undefined,
  context: unknown,
  signal?: AbortSignal,
): Request {
  const identity = { operation: operation.name, scope, key };
  const deadline = deadlineOf(context, operation.store.now());
  const request = { operation, identity, id: recordId(identity), fingerprint, deadline };
  return signal === undefined ? request : { ...request, signal };
}

/** Who sent it, as events tell. */
export function clientIn({ identity }: Request): { readonly client?: string } {
  const client = clientOf(identity);
  return client === undefined ? {} : { client };
}

/** When the invocation ends. Zero is a value; a missing or senseless number is not. */
export function deadlineOf(context: unknown, now: number): number | undefined {
  const lambda = context as LambdaContext | null | undefined;
  if (typeof lambda?.getRemainingTimeInMillis !== 'function') return undefined;
  const remaining: unknown = lambda.getRemainingTimeInMillis();
  if (typeof remaining !== 'number' || Number.isNaN(remaining)) return undefined;
  return now + Math.min(Math.max(0, remaining), longestInvocation);
}

/** Until when a claim made now is believed. */
export function leaseUntil({ operation, deadline }: Request, now: number): number {
  if (operation.lease !== undefined) return now + operation.lease;
  return (deadline ?? now + longestInvocation) + grace;
}

/** Whether too little time is left to start anything. */
export function isTooLate(request: Request): boolean {
  return timeLeft(request) < floor;
}

/** Milliseconds until the invocation ends; Infinity without a deadline. */
export function timeLeft({ operation, deadline }: Request): number {
  return deadline === undefined ? Number.POSITIVE_INFINITY : deadline - operation.store.now();
}

/** How long one store call may take. Past the deadline the process may still live for a moment: use it. */
export function callLimits(request: Request): { budget: number } {
  return { budget: Math.min(longestCall, Math.max(250, timeLeft(request))) };
}

/** Left of the invocation for the answer itself. */
export const answerMargin = 250;

/** How long a question to a provider may take, in milliseconds: after it there must be time left to answer. */
export function questionTime(request: Request): number {
  return Math.max(1, Math.min(longestQuestion, timeLeft(request) - answerMargin));
}
