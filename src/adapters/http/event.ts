type Values = Readonly<Record<string, string | undefined>> | null;
type MultiValues = Readonly<Record<string, readonly string[] | undefined>> | null;

/** What API Gateway v1 and v2, function URLs and ALB send, as far as it is read here. */
export interface HttpEvent {
  readonly version?: string | undefined;
  readonly httpMethod?: string | undefined;
  readonly path?: string | undefined;
  readonly rawPath?: string | undefined;
  readonly rawQueryString?: string | undefined;
  readonly headers?: Values | undefined;
  readonly multiValueHeaders?: MultiValues | undefined;
  readonly queryStringParameters?: Values | undefined;
  readonly multiValueQueryStringParameters?: MultiValues | undefined;
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean | undefined;
  readonly requestContext?:
    | {
        readonly stage?: string | undefined;
        readonly http?:
          | { readonly method?: string | undefined; readonly path?: string | undefined }
          | undefined;
        readonly elb?: object | undefined;
      }
    | undefined;
}

/** A request, whichever front end it came through. */
export interface HttpRequest {
  readonly method: string;
  /** Without the stage. */
  readonly path: string;
  /** Decoded names and values, in the order they came. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: unknown;
  readonly isBase64Encoded: boolean;
  /** Every value of a header, its name in any case. */
  header(name: string): string[];
  /** ALB in multi-value mode reads `multiValueHeaders` of the answer and nothing else. */
  readonly answersInMultiValues: boolean;
}

/** The request in an event, or `undefined` when the event is not HTTP. */
export function readHttp(event: unknown): HttpRequest | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  const given = event as HttpEvent;
  const method = given.requestContext?.http?.method ?? given.httpMethod;
  const path = given.rawPath ?? given.path;
  if (typeof method !== 'string' || typeof path !== 'string') return undefined;
  const isAlb = given.requestContext?.elb !== undefined;
  return {
    method: method.toUpperCase(),
    path: withoutStage(path, given),
    query: queryOf(given, isAlb),
    body: given.body,
    isBase64Encoded: given.isBase64Encoded === true,
    header: (name) => headerValues(given, name.toLowerCase()),
    answersInMultiValues: isAlb && given.multiValueHeaders !== undefined && given.multiValueHeaders !== null,
  };
}

/** HTTP APIs put a named stage in front of the path, REST APIs do not: without it the two agree. */
function withoutStage(path: string, { rawPath, requestContext }: HttpEvent): string {
  const stage = requestContext?.stage;
  if (rawPath === undefined || stage === undefined || stage === '$default') return path;
  if (path === `/${stage}`) return '/';
  return path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : path;
}

function queryOf(event: HttpEvent, isAlb: boolean): [string, string][] {
  if (event.rawQueryString !== undefined) return splitQuery(event.rawQueryString);
  const decode = isAlb ? decodeQuietly : (text: string) => text;
  return pairs(event.multiValueQueryStringParameters, event.queryStringParameters).map(([name, value]) => [
    decode(name),
    decode(value),
  ]);
}

function splitQuery(query: string): [string, string][] {
  const parts = query.split('&').filter((part) => part !== '');
  return parts.map((part) => {
    const [name = '', ...value] = part.split('=');
    return [decodeQuietly(name), decodeQuietly(value.join('='))];
  });
}

/**
 * The text behind percent-encoding. What is no UTF-8 stays as it was sent, behind a mark that no decoded text has:
 * replacement characters would make different queries equal.
 */
function decodeQuietly(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return `\ud800${text}`;
  }
}

function headerValues({ multiValueHeaders, headers }: HttpEvent, name: string): string[] {
  return pairs(multiValueHeaders, headers)
    .filter(([given]) => given.toLowerCase() === name)
    .map(([, value]) => value);
}

/** The other map holds only the last value of each name, so it counts for names that the one with all values lacks. */
function pairs(multiple: MultiValues | undefined, single: Values | undefined): [string, string][] {
  const all = Object.entries(multiple ?? {}).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, String(value)]),
  );
  const others = Object.entries(single ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null || Object.hasOwn(multiple ?? {}, name)
      ? []
      : [[name, String(value)]],
  );
  return [...all, ...others];
}
