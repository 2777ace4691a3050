import type { HttpEvent } from '../../../src/index.ts';
import { fronts, type RequestParts } from '../../support/http.ts';
import type { Answer } from './middy.ts';

type Front = readonly [name: string, event: (parts: RequestParts) => HttpEvent, multi: boolean];

/** Every front end, and whether it reads `multiValueHeaders` of the answer. */
export const frontEnds: readonly Front[] = [
  ['API Gateway v1', fronts.v1, false],
  ['API Gateway v2', fronts.v2, false],
  ['ALB', fronts.alb, false],
  ['ALB in multi-value mode', fronts.albMulti, true],
  ['a function URL', functionUrl, false],
];

/** Payload format 2.0 as well; told apart by its domain only. */
function functionUrl(parts: RequestParts): HttpEvent {
  const event = fronts.v2(parts);
  const domain = { domainName: 'abc.lambda-url.eu-central-1.on.aws', routeKey: '$default' };
  return { ...event, requestContext: { ...event.requestContext, ...domain } };
}

/** The headers in the field that this front end reads, each with its one value. */
export function headersOf(answer: Answer, multi: boolean): Record<string, string | undefined> {
  if (!multi) return { ...answer.headers };
  const pairs = Object.entries(answer.multiValueHeaders ?? {});
  return Object.fromEntries(pairs.map(([name, values]) => [name, values.join(', ')]));
}
