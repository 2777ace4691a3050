import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from 'aws-lambda';
import { matchRoute } from './routes.ts';

/** What a function behind an HTTP API gets; the authorizer's part is played here. */
export type HttpEvent = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

/** A request, before API Gateway made an event of it. */
export interface HttpRequest {
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  /** Names in any case; a list stands for a header that was sent several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** What the authorizer found out. Default: `acme`. */
  readonly tenant?: string;
  /** Default: 127.0.0.1. */
  readonly sourceIp?: string;
  /** Route keys such as `POST /orders` or `GET /orders/{id}`. Default: everything is `$default`. */
  readonly routes?: readonly string[];
}

/** The event, payload format 2.0, that API Gateway's HTTP API makes of a request. */
export function toHttpEvent(request: HttpRequest): HttpEvent {
  const [rawPath, rawQueryString] = splitOnce(request.path, '?');
  const { cookie, ...headers } = joinHeaders(request.headers ?? {});
  const query = joinQuery(rawQueryString);
  const { routeKey, pathParameters } = matchRoute(request.routes, request.method, rawPath) ?? {
    routeKey: '$default',
  };
  return {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString,
    ...(cookie !== undefined && { cookies: cookie.split(/;\s*/) }),
    headers,
    ...(query !== undefined && { queryStringParameters: query }),
    ...(pathParameters !== undefined && { pathParameters }),
    requestContext: contextOf(request, { routeKey, rawPath, headers }),
    ...bodyOf(request.body, headers['content-type']),
  };
}

function contextOf(
  { method, tenant = 'acme', sourceIp = '127.0.0.1' }: HttpRequest,
  { routeKey, rawPath, headers }: { routeKey: string; rawPath: string; headers: Record<string, string> },
): HttpEvent['requestContext'] {
  const now = new Date();
  return {
    accountId: '000000000000',
    apiId: 'local',
    authorizer: { lambda: { tenant } },
    domainName: headers.host ?? 'localhost',
    domainPrefix: 'local',
    http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp, userAgent: headers['user-agent'] ?? '' },
    requestId: randomUUID(),
    routeKey,
    stage: '$default',
    time: commonLogTime(now),
    timeEpoch: now.getTime(),
  };
}

function joinHeaders(headers: NonNullable<HttpRequest['headers']>): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    const text = typeof value === 'string' ? value : value.join(',');
    joined[key] = joined[key] === undefined ? text : `${joined[key]},${text}`;
  }
  return joined;
}

function joinQuery(raw: string): Record<string, string> | undefined {
  if (raw === '') return undefined;
  const joined: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(raw)) {
    joined[name] = joined[name] === undefined ? value : `${joined[name]},${value}`;
  }
  return joined;
}

function bodyOf(
  body: string | Uint8Array = '',
  contentType = '',
): { body?: string; isBase64Encoded: boolean } {
  const bytes = Buffer.from(body as Uint8Array);
  if (bytes.length === 0) return { isBase64Encoded: false };
  const isBase64Encoded = !isText(contentType) || !isUtf8(bytes);
  return { body: bytes.toString(isBase64Encoded ? 'base64' : 'utf8'), isBase64Encoded };
}

/** API Gateway passes these on as they are; everything else, forms included, goes in Base64. */
function isText(contentType: string): boolean {
  return (
    contentType === '' || /^(text\/|application\/([^;]+\+)?(json|xml|javascript)\s*(;|$))/i.test(contentType)
  );
}

/** `07/Mar/2026:12:00:00 +0000` */
function commonLogTime(date: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(date.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${time} +0000`;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
