import type { IdempotencyError } from '../../errors.ts';

/** An answer of ours, in the shape that every front end takes. */
export interface HttpAnswer {
  statusCode: number;
  headers?: Record<string, string>;
  multiValueHeaders?: Record<string, string[]>;
  body: string;
}

/** How refusals look. */
export interface ProblemStyle {
  /** Where people read about the answers; becomes `type` and a `Link` header. */
  readonly docsUrl: string | undefined;
  /** Status for a reused key. */
  readonly mismatchStatus: number;
}

/** A refusal as `application/problem+json` (RFC 9457). */
export function problem(error: IdempotencyError, style: ProblemStyle, inMultiValues: boolean): HttpAnswer {
  const status = error.code === 'key-reused' ? style.mismatchStatus : error.status;
  const headers = {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...(error.retryAfter !== undefined && { 'Retry-After': String(error.retryAfter) }),
    ...(style.docsUrl !== undefined && { Link: `<${style.docsUrl}>; rel="describedby"` }),
  };
  const body = {
    type: style.docsUrl === undefined ? `urn:lambda-once:${error.code}` : `${style.docsUrl}#${error.code}`,
    title: error.title,
    status,
    detail: error.detail,
    code: error.code,
    ...(error.originalStatus !== undefined && { originalStatus: error.originalStatus }),
    ...(error.reference !== undefined && { reference: error.reference }),
    ...(error.appliedAt !== undefined && { appliedAt: error.appliedAt }),
  };
  return { statusCode: status, ...headersIn(headers, inMultiValues), body: JSON.stringify(body) };
}

function headersIn(
  headers: Record<string, string>,
  inMultiValues: boolean,
): Pick<HttpAnswer, 'headers' | 'multiValueHeaders'> {
  if (!inMultiValues) return { headers };
  return {
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
  };
}
