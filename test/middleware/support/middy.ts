import middy7 from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import cors7 from '@middy/http-cors';
import errorHandler7 from '@middy/http-error-handler';
import jsonBodyParser7 from '@middy/http-json-body-parser';
import serializer7 from '@middy/http-response-serializer';
import middy6 from 'middy6-core';
import cors6 from 'middy6-http-cors';
import errorHandler6 from 'middy6-http-error-handler';
import jsonBodyParser6 from 'middy6-http-json-body-parser';
import serializer6 from 'middy6-http-response-serializer';
import type { HttpEvent } from '../../../src/index.ts';
import { contextWith } from '../../support/http.ts';

/** An answer as API Gateway and ALB read it. */
export interface Answer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly cookies?: readonly string[];
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean;
}

/** Middy's request, as hooks of tests see it. */
export interface Hooked {
  event: HttpEvent;
  context: object;
  response?: unknown;
  error?: unknown;
  earlyResponse?: unknown;
}

type Hook = (request: Hooked) => unknown;

/** What `use` takes. */
export interface Hooks {
  before?: Hook;
  after?: Hook;
  onError?: Hook;
}

/** A handler as tests write it: the body may be parsed already, so the event is not the front end's any more. */
export type Handler = (event: HttpEvent, context: object, middy?: { signal: AbortSignal }) => unknown;

/** Both versions behind one shape: their own types differ in ways that do not matter to a test of behaviour. */
export interface Chain {
  (event: unknown, context?: object): Promise<unknown>;
  use(middleware: object | readonly object[]): Chain;
  handler(handler: Handler): Chain;
}

/** One version of Middy and of its official middlewares. */
export interface Kit {
  readonly version: 6 | 7;
  readonly middy: (handler?: Handler | object, plugin?: object) => Chain;
  /** Plugin options that turn on response streaming. */
  readonly streaming: object;
  readonly cors: () => object;
  readonly errorHandler: () => object;
  readonly jsonBodyParser: () => object;
  readonly serializer: () => object;
}

const corsOptions = {
  origin: 'https://shop.example',
  exposeHeaders: 'Idempotency-Replayed',
  credentials: true,
};

const serializerOptions = {
  serializers: [
    { regex: /^application\/json$/, serializer: ({ body }: { body?: unknown }) => JSON.stringify(body) },
  ],
  defaultContentType: 'application/json',
};

export const kits: readonly Kit[] = [
  {
    version: 6,
    middy: middy6 as unknown as Kit['middy'],
    streaming: { streamifyResponse: true },
    cors: () => cors6(corsOptions),
    errorHandler: () => errorHandler6({ logger: false }),
    jsonBodyParser: () => jsonBodyParser6(),
    serializer: () => serializer6(serializerOptions),
  },
  {
    version: 7,
    middy: middy7 as unknown as Kit['middy'],
    streaming: { executionMode: executionModeStreamifyResponse },
    cors: () => cors7(corsOptions),
    errorHandler: () => errorHandler7({ logger: false }),
    jsonBodyParser: () => jsonBodyParser7(),
    serializer: () => serializer7(serializerOptions),
  },
];

/** A Lambda event in, an answer out. */
export async function call(
  chain: (event: never, context: never) => Promise<unknown>,
  event: unknown,
  context: object = contextWith(),
): Promise<Answer> {
  return (await chain(event as never, context as never)) as Answer;
}

/** The problem in an answer's body. */
export function problemIn(answer: Answer): Record<string, unknown> {
  return JSON.parse(String(answer.body)) as Record<string, unknown>;
}
