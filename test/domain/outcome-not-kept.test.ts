import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { decodeOutcome, encodeOutcome, maximumOutcomeBytes, type Outcome } from '../../src/domain/outcome.ts';

const encode = (value: unknown) => encodeOutcome({ kind: 'value', value });

describe('what is not kept, with its path and not its value', () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = [cyclic];
  const refusals: [string, unknown, string][] = [
    ['NaN', { statusCode: 200, x: Number.NaN }, 'result.x is NaN'],
    ['Infinity', [Infinity], 'result[0] is Infinity'],
    ['a BigInt', { id: 1n }, 'result.id is bigint'],
    ['a function', { f: () => 1 }, 'result.f is function'],
    ['a symbol', Symbol('s'), 'result is symbol'],
    ['a Map', new Map([[1, 2]]), 'result is an instance of Map'],
    ['a Map of another realm', runInNewContext('new Map()'), 'result is an instance of Map'],
    ['an empty Set', { statusCode: 200, x: new Set() }, 'result.x is an instance of Set'],
    ['an Error', { cause: new TypeError('secret') }, 'result.cause is an instance of TypeError'],
    ['a Promise', [Promise.resolve()], 'result[0] is an instance of Promise'],
    ['a RegExp', /a/, 'result is an instance of RegExp'],
    ['bytes', { body: Buffer.from('secret') }, 'result.body is an instance of Buffer'],
    ['an ArrayBuffer', new ArrayBuffer(8), 'result is an instance of ArrayBuffer'],
    ['query parameters', new URLSearchParams('secret=1'), 'result is an instance of URLSearchParams'],
    ['fetch Headers', { headers: new Headers({ a: 'secret' }) }, 'result.headers is an instance of Headers'],
    ['a Blob', new Blob(['secret']), 'result is an instance of Blob'],
    ['an invalid Date', [new Date(Number.NaN)], 'result[0] is an invalid Date'],
    ['a cycle', cyclic, 'result.self[0] is a cycle'],
    [
      'more than 1000 levels',
      JSON.parse('['.repeat(1001) + ']'.repeat(1001)),
      'is nested deeper than 1000 levels',
    ],
  ];
  test.each(refusals)('S16: %s', (_name, value, detail) => {
    const encoded = encode(value);
    expect(encoded).toMatchObject({ kind: 'not-kept', reason: 'unfaithful' });
    expect(encoded).toHaveProperty('detail', expect.stringContaining(detail));
    expect(JSON.stringify(encoded)).not.toContain('secret');
  });

  test('M16: streams, which are left unread', async () => {
    const [readable, web, response] = [
      Readable.from(['ab', 'c']),
      ReadableStream.from(['abc']),
      new Response('abc'),
    ];
    for (const body of [readable, web, response]) {
      for (const value of [body, { statusCode: 200, body }]) {
        expect(encode(value)).toMatchObject({ kind: 'not-kept', reason: 'unfaithful' });
      }
    }
    expect(readable.readableDidRead).toBe(false);
    expect((await readable.toArray()).join('')).toBe('abc');
    expect(web.locked).toBe(false);
    expect(response.bodyUsed).toBe(false);
    expect(await response.text()).toBe('abc');
  });

  test('S14: size counts UTF-8 bytes, of the whole text', () => {
    const room = maximumOutcomeBytes - Buffer.byteLength('1v""');
    expect(encode('x'.repeat(room)).kind).toBe('kept');
    expect(encode('x'.repeat(room + 1))).toEqual({
      kind: 'not-kept',
      reason: 'too-large',
      detail: `it takes ${maximumOutcomeBytes + 1} bytes of ${maximumOutcomeBytes}`,
      text: '1n{"reason":"too-large"}',
    });
    expect(encode('€'.repeat(Math.floor(room / 3))).kind).toBe('kept');
    expect(encode({ statusCode: 201, body: '€'.repeat(150_000) })).toMatchObject({
      kind: 'not-kept',
      text: '1n{"reason":"too-large","status":201}',
    });
    const rejection = { name: 'E', message: 'x'.repeat(500_000), status: 422 };
    expect(encodeOutcome({ kind: 'rejection', rejection })).toMatchObject({ reason: 'too-large' });
    // an item holds 400 KB, names and the other attributes included
    expect(maximumOutcomeBytes).toBeLessThanOrEqual(400 * 1024 - 2048);
  });

  test('not kept is an outcome of its own, which survives storing with its status', () => {
    const outcome: Outcome = { kind: 'not-kept', reason: 'too-large', status: 201 };
    expect(
      decodeOutcome(
        encodeOutcome(outcome).kind === 'not-kept' ? '1n{"reason":"too-large","status":201}' : '',
      ),
    ).toEqual(outcome);
    expect(decodeOutcome('1n{"reason":"unfaithful"}')).toEqual({ kind: 'not-kept', reason: 'unfaithful' });
  });

  test.each([undefined, '', '1', '1x{}', '2v{}', '2u', 'v{}', '1v', '1v{', '1r', '1n{bad'])(
    'what this version cannot read is not kept: %j',
    (text) => {
      expect(decodeOutcome(text)).toEqual({ kind: 'not-kept', reason: 'newer-version' });
    },
  );
});
