import { describe, expect, test } from 'vitest';
import { readHttp } from '../../src/adapters/http/event.ts';
import { parseKey } from '../../src/adapters/http/key.ts';
import type { HttpEvent } from '../../src/index.ts';
import { fronts } from '../support/http.ts';

/** The key of an event, read as the adapter reads it. */
function keyOf(event: HttpEvent, header = 'Idempotency-Key'): string | undefined {
  const request = readHttp(event);
  if (request === undefined) throw new Error('not HTTP');
  return parseKey(header, request.header(header));
}

describe('H01: where the header is', () => {
  const spellings = ['Idempotency-Key', 'idempotency-key', 'IDEMPOTENCY-KEY', 'iDEMPOTENCY-kEY'];
  const byFront = Object.entries(fronts).flatMap(([name, front]) =>
    spellings.map((header) => [name, header, front] as const),
  );
  test.each(byFront)('H01: %s sends %s', (_name, header, front) => {
    expect(keyOf(front({ headers: { [header]: 'k-1' } }))).toBe('k-1');
    expect(keyOf(front({ headers: { [header]: '"k-1"' } }), 'IDEMPOTENCY-key')).toBe('k-1');
    expect(keyOf(front({ headers: { 'X-Request-Key': 'k-2' } }), 'x-request-KEY')).toBe('k-2');
    expect(keyOf(front({}))).toBeUndefined();
  });

  const post = { httpMethod: 'POST', path: '/' };
  const maps: [string, HttpEvent, string | undefined][] = [
    ['no maps', post, undefined],
    ['null maps', { ...post, headers: null, multiValueHeaders: null }, undefined],
    ['headers null', { ...post, headers: null, multiValueHeaders: { 'idempotency-key': ['k'] } }, 'k'],
    [
      'multiValueHeaders null',
      { ...post, headers: { 'idempotency-key': 'k' }, multiValueHeaders: null },
      'k',
    ],
    ['multiValueHeaders empty', { ...post, headers: { 'idempotency-key': 'k' }, multiValueHeaders: {} }, 'k'],
    [
      'multiValueHeaders without it',
      { ...post, headers: { 'idempotency-key': 'k' }, multiValueHeaders: { a: ['b'] } },
      'k',
    ],
    ['an absent value', { ...post, headers: { 'idempotency-key': undefined } }, undefined],
    ['no values', { ...post, multiValueHeaders: { 'idempotency-key': [] } }, undefined],
    ['undefined values', { ...post, multiValueHeaders: { 'idempotency-key': undefined } }, undefined],
    ['one value twice', { ...post, multiValueHeaders: { 'idempotency-key': ['k', '"k"'] } }, 'k'],
    [
      'two spellings, one value',
      { ...post, headers: { 'Idempotency-Key': 'k', 'idempotency-key': 'k' } },
      'k',
    ],
    ['a name that only begins so', { ...post, headers: { 'idempotency-key-2': 'k' } }, undefined],
  ];
  test.each(maps)('H01: %s', (_name, event, expected) => {
    expect(keyOf(event)).toBe(expected);
  });

  test('two spellings, two values are refused', () => {
    expect(() => keyOf({ ...post, headers: { 'Idempotency-Key': 'a', 'idempotency-key': 'b' } })).toThrow(
      /two different/,
    );
  });

  test.each([
    [undefined],
    [null],
    [5],
    ['event'],
    [[]],
    [{}],
    [{ Records: [] }],
    [{ httpMethod: 'POST' }],
    [{ path: '/' }],
  ])('H15: %j is not HTTP', (event) => {
    expect(readHttp(event)).toBeUndefined();
  });
});
