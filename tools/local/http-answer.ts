import type { InvokeResult } from './result.ts';

/** An answer as it goes out over HTTP. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string | readonly string[]])[];
  readonly body: Uint8Array;
}

/** What API Gateway's HTTP API makes of the way an invocation ended. */
export function toHttpAnswer(result: InvokeResult): HttpAnswer {
  switch (result.kind) {
    case 'response':
      return isStructured(result.payload) ? structured(result.payload) : inferred(result.payload);
    case 'timeout':
      return gatewayAnswer(504, 'Endpoint request timed out');
    case 'error':
    case 'exit':
    case 'init-error':
      return gatewayAnswer(502, 'Internal Server Error');
    default:
      return result satisfies never;
  }
}

/** An answer in which the function has no part. */
export function gatewayAnswer(status: number, message: string): HttpAnswer {
  return json(status, JSON.stringify({ message }));
}

interface Structured {
  readonly statusCode: unknown;
  readonly headers?: Readonly<Record<string, unknown>> | null;
  readonly cookies?: readonly string[] | null;
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean;
}

/** The gateway says itself how an answer is framed. */
const framing = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding']);

function isStructured(payload: unknown): payload is Structured {
  return typeof payload === 'object' && payload !== null && 'statusCode' in payload;
}

function structured({ statusCode, headers, cookies, body, isBase64Encoded }: Structured): HttpAnswer {
  const status = Number(statusCode);
  const valid = Number.isInteger(status) && status >= 200 && status <= 599;
  if (!valid || (body !== undefined && body !== null && typeof body !== 'string')) {
    return gatewayAnswer(502, 'Internal Server Error');
  }
  const own = Object.entries(headers ?? {})
    .filter(([name]) => !framing.has(name.toLowerCase()))
    .map(([name, value]) => [name, String(value)] as const);
  const hasType = own.some(([name]) => name.toLowerCase() === 'content-type');
  return {
    status,
    headers: [
      ...(hasType || !body ? [] : [['content-type', 'text/plain;charset=UTF-8'] as const]),
      ...own,
      ...(cookies?.length ? [['set-cookie', cookies] as const] : []),
    ],
    body: Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}

/** A result without a status code is itself the body. */
function inferred(payload: unknown): HttpAnswer {
  return json(200, typeof payload === 'string' ? payload : JSON.stringify(payload));
}

function json(status: number, body: string): HttpAnswer {
  return { status, headers: [['content-type', 'application/json']], body: Buffer.from(body) };
}
