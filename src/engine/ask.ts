import type { Reconciled } from './options.ts';

/** What downstream said, or why it said nothing that counts. */
export type Asked = Reconciled<unknown> | Failed;

/** It threw, took too long, or gave none of the three answers. Only the name of the error: its message may hold anything. */
export interface Failed {
  readonly failed: string;
}

/** Neither of the three answers, or one that cannot be kept. */
export const invalidAnswer: Failed = { failed: 'InvalidAnswer' };

/** Milliseconds. A query that takes longer than this tells more about the provider's health than about the effect. */
export const longestQuestion = 10_000;

/** Characters. A name goes into logs, one line each. */
const longestName = 100;

/** Asks a `reconcile` function of the user's. It never throws, and it is never waited for longer than `within`. */
export async function ask(question: (signal: AbortSignal) => unknown, within: number): Promise<Asked> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<Failed>((resolve) => {
    timer = setTimeout(() => {
      controller.abort(new DOMException('The answer would come too late to count.', 'TimeoutError'));
      resolve({ failed: 'TimeoutError' });
    }, within);
  });
  const answer = (async () => asAnswer(await question(controller.signal)))().catch(failedBy);
  const asked = await Promise.race([answer, tooLate]);
  clearTimeout(timer);
  return asked;
}

/** Anything that is not one of the three answers is no answer. */
function asAnswer(answer: unknown): Asked {
  if (answer === 'absent' || answer === 'unknown') return answer;
  const isFound = typeof answer === 'object' && answer !== null && 'found' in answer;
  return isFound ? (answer as { found: unknown }) : invalidAnswer;
}

function failedBy(error: unknown): Failed {
  return { failed: error instanceof Error ? error.name.slice(0, longestName) : typeof error };
}
