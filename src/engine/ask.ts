import type { Reconciled } from './options.ts';

/** What downstream said. `failed`: it threw, took too long, or gave none of the three answers. */
export type Asked = Reconciled<unknown> | 'failed';

/** Milliseconds. A query that takes longer than this tells more about the provider's health than about the effect. */
export const longestQuestion = 10_000;

/** Asks a `reconcile` function of the user's. It never throws, and it is never waited for longer than `within`. */
export async function ask(question: (signal: AbortSignal) => unknown, within: number): Promise<Asked> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<'failed'>((resolve) => {
    timer = setTimeout(() => {
      controller.abort(new DOMException('The answer would come too late to count.', 'TimeoutError'));
      resolve('failed');
    }, within);
  });
  const answer = (async () => asAnswer(await question(controller.signal)))().catch(() => 'failed' as const);
  const asked = await Promise.race([answer, tooLate]);
  clearTimeout(timer);
  return asked;
}

/** Anything that is not one of the three answers is no answer. */
function asAnswer(answer: unknown): Asked {
  if (answer === 'absent' || answer === 'unknown') return answer;
  const isFound = typeof answer === 'object' && answer !== null && 'found' in answer;
  return isFound ? (answer as { found: unknown }) : 'failed';
}
