import { fromRejection } from '../../engine/rejection.ts';
import type { Answer } from '../../engine/run.ts';
import type { IdempotencyError } from '../../errors.ts';
import type { HttpRequest } from './event.ts';
import { marked } from './headers.ts';
import { type HttpAnswer, type ProblemStyle, problem } from './problem.ts';

/** How an operation answers. */
export interface AnswerStyle {
  readonly style: ProblemStyle;
  readonly replayedHeader: string;
}

/**
 * The answer as a handler gives it: returned or thrown.
 *
 * @param sent the request as it was read before the handler could change the event; `undefined` when it is not HTTP
 */
export function answerHttp(how: AnswerStyle, sent: HttpRequest | undefined, given: Answer): unknown {
  switch (given.kind) {
    case 'returned':
      return given.value;
    case 'thrown':
      throw given.error;
    case 'refused':
      return refusal(how.style, sent, given.error);
    case 'replay':
      break;
    default:
      return given satisfies never;
  }
  const { outcome } = given;
  if (outcome.kind === 'rejection') {
    const error = fromRejection(outcome.rejection);
    throw sent === undefined ? error : markedError(error, how.replayedHeader);
  }
  const value = outcome.kind === 'value' ? outcome.value : undefined;
  return marked(value, how.replayedHeader, sent?.answersInMultiValues ?? false);
}

/** A problem for HTTP; whoever sent another event gets the error itself. */
function refusal(style: ProblemStyle, sent: HttpRequest | undefined, error: IdempotencyError): HttpAnswer {
  if (sent === undefined) throw error;
  return problem(error, style, sent.answersInMultiValues);
}

/** Error handlers send an error's `headers` along (http-errors does, Middy does), so a replayed rejection shows as one. */
function markedError(error: Error, header: string): Error {
  return Object.defineProperty(error, 'headers', {
    value: { [header]: 'true' },
    configurable: true,
    writable: true,
  });
}
