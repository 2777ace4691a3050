import type { HttpEvent } from '../../src/index.ts';

/** What a test says about a request; the rest is filled in. */
export interface RequestParts {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An event of each front end for the same request. */
export const fronts = {
  /** API Gateway HTTP API, payload format 2.0; function URLs send the same. */
  v2: ({
    method = 'POST',
    path = '/orders',
    query = '',
    key,
    headers = {},
    body,
  }: RequestParts): HttpEvent => ({
    version: '2.0',
    rawPath: path,
    rawQueryString: query,
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
      ...headers,
    },
    requestContext: { stage: '$default', http: { method, path } },
    ...(body !== undefined && { body: text(body) }),
    isBase64Encoded: false,
  }),
  /** API Gateway REST API. */
  v1: ({
    method = 'POST',
    path = '/orders',
    query = '',
    key,
    headers = {},
    body,
  }: RequestParts): HttpEvent => {
    const all = {
      'Content-Type': 'application/json',
      ...(key !== undefined && { 'Idempotency-Key': key }),
      ...headers,
    };
    return {
      httpMethod: method,
      path,
      headers: all,
      multiValueHeaders: Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]])),
      ...multiQuery(query),
      requestContext: { stage: 'prod' },
      body: body === undefined ? null : text(body),
      isBase64Encoded: false,
    };
  },
  /** ALB in single-value mode. */
  alb: ({
    method = 'POST',
    path = '/orders',
    query = '',
    key,
    headers = {},
    body,
  }: RequestParts): HttpEvent => ({
    httpMethod: method,
    path,
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
      ...headers,
    },
    queryStringParameters: Object.fromEntries(rawPairs(query)),
    requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:us-east-1:0:targetgroup/t/1' } },
    body: body === undefined ? '' : text(body),
    isBase64Encoded: false,
  }),
  /** ALB in multi-value mode. */
  albMulti: ({
    method = 'POST',
    path = '/orders',
    query = '',
    key,
    headers = {},
    body,
  }: RequestParts): HttpEvent => {
    const all = {
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
      ...headers,
    };
    return {
      httpMethod: method,
      path,
      multiValueHeaders: Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]])),
      multiValueQueryStringParameters: group(rawPairs(query)),
      requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:us-east-1:0:targetgroup/t/1' } },
      body: body === undefined ? '' : text(body),
      isBase64Encoded: false,
    };
  },
};

/** A Lambda context that knows only its deadline. */
export function contextWith(remaining = 30_000): { getRemainingTimeInMillis(): number } {
  const ends = Date.now() + remaining;
  return { getRemainingTimeInMillis: () => ends - Date.now() };
}

function text(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function rawPairs(query: string): [string, string][] {
  return query === '' ? [] : query.split('&').map((pair) => pair.split('=') as [string, string]);
}

function multiQuery(query: string): Partial<HttpEvent> {
  if (query === '') return { queryStringParameters: null, multiValueQueryStringParameters: null };
  return { multiValueQueryStringParameters: group([...new URLSearchParams(query)]) };
}

function group(pairs: [string, string][]): Record<string, string[]> {
  const names = [...new Set(pairs.map(([name]) => name))];
  return Object.fromEntries(
    names.map((name) => [name, pairs.filter(([given]) => given === name).map(([, value]) => value)]),
  );
}
