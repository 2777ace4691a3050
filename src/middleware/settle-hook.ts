import { statusOfValue } from '../domain/outcome.ts';
import type { HeldClaim } from '../engine/claim.ts';
import { timeLeft } from '../engine/request.ts';
import { complete, hold, release, type Settled, settle } from '../engine/settle.ts';
import { type Ended, type Verdict, verdictOf } from '../engine/verdict.ts';
import type { Course } from './course.ts';

/** Milliseconds. Middy's early timeout may answer with any value or error of the user's making. */
const nearDeadline = 250;

/** Whether Middy's early timeout may have answered in the handler's place. */
export function isNearDeadline({ request }: HeldClaim): boolean {
  return timeLeft(request) < nearDeadline;
}

/** So close to the deadline a passing failure may be Middy's early timeout, and the handler may still run: held. */
export async function settleHook(
  held: HeldClaim,
  ended: Ended,
  verdict: Verdict = verdictOf(held.request.operation, ended),
): Promise<Settled> {
  if (verdict === 'release' && isNearDeadline(held)) return hold(held, 'close to the deadline');
  return settle(held, ended, verdict);
}

/** A rejection is stored as the answer that an error handler made of it, or, where none did, as the error. */
export async function settleError(
  held: HeldClaim,
  { firstError: error, answered }: Course,
  response: unknown,
): Promise<Settled> {
  const ended = { kind: 'thrown', error } as const;
  const verdict = verdictOf(held.request.operation, ended);
  if (answered !== undefined && (verdict !== 'record' || isMiddysOwn(error))) {
    return settleUnsent(held, answered.value);
  }
  if (verdict !== 'record') return settleHook(held, ended, verdict);
  // a parser or validator of Middy's refused the request: the handler never saw it, and the key is free for a better one
  if (isMiddysOwn(error)) return release(held, 'refused by a middleware', true);
  if (response === undefined) return settle(held, ended, verdict);
  return complete(held, { kind: 'value', value: response });
}

/** The handler answered, but not this is what the caller got: whoever asks again is told that it was done. */
export async function settleUnsent(held: HeldClaim, value: unknown): Promise<Settled> {
  const ended = { kind: 'returned', value } as const;
  const verdict = verdictOf(held.request.operation, ended);
  if (verdict !== 'complete') return settleHook(held, ended, verdict);
  const status = statusOfValue(value);
  return complete(held, { kind: 'not-kept', reason: 'unfaithful', ...(status !== undefined && { status }) });
}

function isMiddysOwn(error: unknown): boolean {
  const { cause } = Object(error) as { cause?: { package?: unknown } };
  return typeof cause?.package === 'string' && cause.package.startsWith('@middy/');
}
