import { describe, expect, test } from 'vitest';
import { readHttp } from '../../src/adapters/http/event.ts';
import { fingerprintHttp } from '../../src/adapters/http/fingerprint.ts';
import type { HttpEvent } from '../../src/index.ts';
import { fronts, type RequestParts } from '../support/http.ts';

function digest(event: HttpEvent): string {
  const request = readHttp(event);
  if (request === undefined) throw new Error('not HTTP');
  return fingerprintHttp(request, {});
}

const all = Object.entries(fronts);
/** The digests of a request through every front end, without repetition. */
const digests = (parts: RequestParts): string[] => [...new Set(all.map(([, front]) => digest(front(parts))))];

describe('H07: one request through every front end', () => {
  test.each<[string, RequestParts]>([
    ['no query, no body', {}],
    ['a JSON body', { body: { b: [1.5, 'é'], a: null } }],
    ['text', { body: 'a=1&b=2' }],
    ['a query', { query: 'from=a&to=b' }],
    ['a query to be decoded', { query: 'q=a%20b%2Cc&n%C3%A9=1+2' }],
    ['an empty parameter', { query: 'a=&b=1' }],
    ['another method and path', { method: 'PATCH', path: '/orders/1', body: 1 }],
    ['a method in lower case', { method: 'post' }],
  ])('H07: %s', (_name, parts) => {
    expect(digests(parts)).toHaveLength(1);
  });

  test('H07: headers take no part', () => {
    const traced = {
      headers: { 'x-amzn-trace-id': 'Root=1', date: 'now', accept: '*/*' },
      key: 'other',
      body: 1,
    };
    expect(digests(traced)).toEqual(digests({ body: 1 }));
  });

  test('H07: stays the same over versions', () => {
    expect(digests({ path: '/orders', query: 'b=2&a=1', body: { b: 1, a: [2] } })).toEqual([
      '1:K4_NocY0PgW2kh0gfqz8ubhCsvVxGcgzuI80ZBCUl_k',
    ]);
    expect(digests({})).toEqual(['1:TM_dtMAoivtDLSl0Z6E374Y-AvxX9miT9JT7PuG25T4']);
  });
});

describe('H07: method, path and query', () => {
  const differing: [string, RequestParts, RequestParts][] = [
    ['method', { method: 'POST' }, { method: 'PATCH' }],
    ['path', { path: '/orders' }, { path: '/orders/1/cancel' }],
    ['a slash at the end', { path: '/orders' }, { path: '/orders/' }],
    ['the case of the path', { path: '/Orders' }, { path: '/orders' }],
    ['a value', { query: 'to=x' }, { query: 'to=y' }],
    ['a name', { query: 'to=x' }, { query: 'from=x' }],
    ['a parameter more', { query: 'a=1' }, { query: 'a=1&b=2' }],
    ['names and values that read the same in a row', { query: 'a=b&c=d' }, { query: 'a=b%26c%3Dd' }],
    ['a path that holds a query', { path: '/a?b=1' }, { path: '/a', query: 'b=1' }],
  ];
  test.each(differing)('H07: another digest: %s', (_name, one, other) => {
    for (const [, front] of all) expect(digest(front(one))).not.toBe(digest(front(other)));
  });

  test('H07: names in any order, values of one name in theirs', () => {
    for (const [, front] of all) {
      expect(digest(front({ query: 'b=2&a=1' }))).toBe(digest(front({ query: 'a=1&b=2' })));
    }
    for (const front of [fronts.v1, fronts.v2, fronts.albMulti]) {
      const twice = digest(front({ query: 'a=1&a=2&b=3' }));
      expect(digest(front({ query: 'a=1&b=3&a=2' }))).toBe(twice);
      expect(digest(front({ query: 'a=2&a=1&b=3' }))).not.toBe(twice);
      expect(digest(front({ query: 'a=1&b=3' }))).not.toBe(twice);
    }
  });

  test('H07: `__proto__` as a parameter is one', () => {
    const v2 = (query: string) => digest(fronts.v2({ query }));
    expect(v2('__proto__=1')).not.toBe(v2(''));
    expect(v2('__proto__=1')).not.toBe(v2('__proto__=2'));
  });

  const staged = (stage: string, rawPath: string): HttpEvent => ({
    ...fronts.v2({ path: rawPath }),
    requestContext: { stage, http: { method: 'POST' } },
  });
  test.each([
    ['prod', '/prod/orders', '/orders'],
    ['prod', '/prod', '/'],
    ['prod', '/prod/', '/'],
    ['prod', '/prod/prod/orders', '/prod/orders'],
    ['prod', '/production/orders', '/production/orders'],
    ['prod', '/orders/prod', '/orders/prod'],
    ['$default', '/prod/orders', '/prod/orders'],
    ['$default', '/$default/orders', '/$default/orders'],
  ])('H07: HTTP API, stage %s: %s is %s', (stage, rawPath, path) => {
    expect(readHttp(staged(stage, rawPath))?.path).toBe(path);
    expect(digest(staged(stage, rawPath))).toBe(digest(fronts.v1({ path })));
  });

  test('H07: a REST API’s path has no stage, so nothing is cut off', () => {
    expect(readHttp(fronts.v1({ path: '/prod/orders' }))?.path).toBe('/prod/orders');
  });

  test('H07: a REST API sends both maps; the single one holds the last value of each name and adds nothing', () => {
    const event = fronts.v1({ query: 'a=1&a=2&b=3' });
    expect(digest({ ...event, queryStringParameters: { a: '2', b: '3' } })).toBe(digest(event));
  });

  test('H07: only the single map of parameters, or an empty multiple one', () => {
    const queryStringParameters = { a: '1', b: undefined };
    const event: HttpEvent = { ...fronts.v1({}), queryStringParameters };
    const { multiValueQueryStringParameters: _none, ...single } = event;
    const expected = digest(fronts.v1({ query: 'a=1' }));
    expect(digest(single)).toBe(expected);
    expect(digest({ ...event, multiValueQueryStringParameters: {} })).toBe(expected);
  });
});
