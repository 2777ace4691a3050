import type { Answered } from './answers.ts';
import { begin } from './begin.ts';
import type { Claim } from './claim.ts';
import { whileHolding } from './reentrance.ts';
import type { Request } from './request.ts';
import { settle } from './settle.ts';
import type { Ended } from './verdict.ts';

/** How a delivery is answered: by its own run and what that did to the claim, by the first outcome, or by a refusal. */
export type Answer = (Ended & { readonly verdict: 'complete' | 'release' | 'hold' }) | Answered;

/** Claim, run, settle: the whole life of one delivery whose handler we call ourselves. */
export async function runOnce(request: Request, work: (claim: Claim) => unknown): Promise<Answer> {
  const begun = await begin(request);
  if (begun.kind !== 'run') return begun;
  const { held } = begun;
  const ended = await whileHolding(held.id, () => endOf(() => work(held.claim)));
  const settled = await settle(held, ended);
  return settled.kind === 'own' ? { ...ended, verdict: settled.verdict } : settled;
}

/** A throw made a value, so that the engine has one way out. */
async function endOf(work: () => unknown): Promise<Ended> {
  try {
    return { kind: 'returned', value: await work() };
  } catch (error) {
    return { kind: 'thrown', error };
  }
}
