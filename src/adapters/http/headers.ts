/** A result with a status: only such a one has headers. */
export function isHttpShaped(result: unknown): result is Record<string, unknown> {
  return typeof result === 'object' && result !== null && 'statusCode' in result;
}

/** The stored answer as a duplicate gets it: the same, and marked. What is not an HTTP answer stays as it is. */
export function marked(answer: unknown, header: string, inMultiValues: boolean): unknown {
  if (!isHttpShaped(answer)) return answer;
  const field =
    inMultiValues || (answer.headers === undefined && answer.multiValueHeaders)
      ? 'multiValueHeaders'
      : 'headers';
  const given = (answer[field] ?? {}) as object;
  return { ...answer, [field]: { ...given, [header]: field === 'headers' ? 'true' : ['true'] } };
}

/** The answer without the headers that must not be sent a second time; `undefined` members are left as they are. */
export function withoutDenied(result: unknown, isDenied: (header: string) => boolean): unknown {
  const sent = asSent(result);
  if (!hasHeaders(sent)) return result;
  const kept = { ...sent };
  for (const field of ['headers', 'multiValueHeaders']) {
    const headers = kept[field];
    if (typeof headers !== 'object' || headers === null) continue;
    kept[field] = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !isDenied(name.toLowerCase())),
    );
  }
  // API Gateway v2 has a field of its own for Set-Cookie
  if (isDenied('set-cookie')) delete kept.cookies;
  return kept;
}

/** Lambda sends an answer as its `toJSON` says; a copy of the members would lose that, and the status with it. */
function asSent(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  return 'toJSON' in result && typeof result.toJSON === 'function' ? (result.toJSON() as unknown) : result;
}

const proxyFields: ReadonlySet<string> = new Set([
  'headers',
  'multiValueHeaders',
  'cookies',
  'body',
  'isBase64Encoded',
]);

/** With a status, or in all else a proxy response: API Gateway v1 takes a missing status for 200. */
function hasHeaders(result: unknown): result is Record<string, unknown> {
  if (isHttpShaped(result)) return true;
  if (typeof result !== 'object' || result === null) return false;
  const names = Object.keys(result);
  return names.some((name) => /headers$/i.test(name)) && names.every((name) => proxyFields.has(name));
}

/** Whether a header's lower-case name is on the list; an entry may end in `*`. */
export function deniedBy(list: readonly string[]): (header: string) => boolean {
  const entries = list.map((entry) => entry.toLowerCase());
  return (header) =>
    entries.some((entry) => (entry.endsWith('*') ? header.startsWith(entry.slice(0, -1)) : header === entry));
}
