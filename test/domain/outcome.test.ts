import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeOutcome, encodeOutcome, type Outcome } from '../../src/domain/outcome.ts';
import { anyValue } from './support/random-json.ts';

const encode = (value: unknown) => encodeOutcome({ kind: 'value', value });

/** The value as a duplicate gets it. */
function replayed(value: unknown): unknown {
  const encoded = encode(value);
  if (encoded.kind !== 'kept') throw new Error(`not kept: ${JSON.stringify(encoded)}`);
  const outcome = decodeOutcome(encoded.text);
  if (outcome.kind !== 'value') throw new Error(`not a value: ${outcome.kind}`);
  return outcome.value;
}

describe('what comes back exactly', () => {
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  const shared = { a: [1] };
  const values: [string, unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['false', false],
    ['0', 0],
    ['-0', -0],
    ['an empty text', ''],
    ['an empty list', []],
    ['an empty object', {}],
    ['1.23e40', 1.23e40],
    ['the largest and the smallest number', [Number.MAX_VALUE, Number.MIN_VALUE, 0.1 + 0.2, 2 ** 53]],
    ['-0 and undefined inside', { a: -0, b: [undefined, null, -0] }],
    ['a date', new Date('2026-01-02T03:04:05.678Z')],
    ['dates inside', { at: [new Date(0)] }],
    ['text of every kind', '\0\u2028\ud800\udc00\ud800 "\\ é 😀'],
    ['the mark that we use, as data', { $once: 'date', text: '2026-01-01T00:00:00Z' }],
    ['the mark inside the mark', { $once: { $once: { $once: 'undefined' } } }],
    ['the mark beside a date', { $once: [new Date(1)], other: -0 }],
    ['`__proto__`', JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":null}}')],
    ['streams by name only', { pipe: 'copper', getReader: 'Ada', bodyUsed: true, toJSON: 1 }],
    ['one object in two places, which is no cycle', [shared, { again: shared }]],
    ['40 nested lists', nested(40)],
    ['1000 nested lists', nested(1000)],
    [
      'an HTTP answer',
      { statusCode: 201, headers: { ETag: '"1"' }, body: '{"b":1,"a":2}', isBase64Encoded: false },
    ],
  ];
  test.each(values)('M04 S15 S16: %s', (_name, value) => {
    expect(replayed(value)).toStrictEqual(value);
    expect(Object.is(replayed(value), value)).toBe(Object.is(value, structuredClone(value)));
  });

  test('S16: any JSON value, member order included', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        // not `toStrictEqual`, which takes a member named `constructor` for the object's type
        expect(isDeepStrictEqual(replayed(value), value)).toBe(true);
        expect(JSON.stringify(replayed(value))).toBe(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });

  test('S16: beyond JSON, what Lambda itself would have sent', () => {
    class Order {
      readonly id = 7;
      readonly note = undefined;
      #secret = 'x';
      get secret(): string {
        return this.#secret;
      }
    }
    const sent: [unknown, unknown][] = [
      [{ a: undefined, b: 1 }, { b: 1 }],
      [new Order(), { id: 7 }],
      [new URL('https://a.example/'), 'https://a.example/'],
      [{ toJSON: () => ({ a: [1] }) }, { a: [1] }],
      [Object.create(null, { a: { value: 1, enumerable: true } }), { a: 1 }],
      [{ [Symbol('s')]: 1, b: 2 }, { b: 2 }],
      [
        [Object(5), Object('text'), Object(false)],
        [5, 'text', false],
      ],
    ];
    for (const [value, expected] of sent) {
      expect(replayed(value)).toStrictEqual(expected);
      expect(JSON.parse(JSON.stringify(value))).toStrictEqual(expected);
    }
  });

  test('the stored form is a text that later versions must read', () => {
    expect(encode(undefined)).toMatchObject({ kind: 'kept', text: '1u' });
    expect(encode({ b: 1, a: [new Date(0), -0, undefined] })).toMatchObject({
      kind: 'kept',
      text: '1v{"b":1,"a":[{"$once":"date","text":"1970-01-01T00:00:00.000Z"},{"$once":"-0"},{"$once":"undefined"}]}',
    });
    expect(encode({ $once: 1 })).toMatchObject({
      kind: 'kept',
      text: '1v{"$once":"object","value":{"$once":1}}',
    });
  });

  test('a rejection', () => {
    const rejection = { name: 'Conflict', message: 'no "stock"', status: 422, code: 'E_STOCK' };
    const encoded = encodeOutcome({ kind: 'rejection', rejection });
    expect(encoded).toMatchObject({ kind: 'kept', text: `1r${JSON.stringify(rejection)}` });
    expect(decodeOutcome(encoded.kind === 'kept' ? encoded.text : '')).toEqual({
      kind: 'rejection',
      rejection,
    });
  });
});

describe('no path stores a 5xx', () => {
  const rejection = { name: 'E', message: 'm' };
  const errors: [string, Outcome, number][] = [
    ['a value', { kind: 'value', value: { statusCode: 500, body: '' } }, 500],
    ['a text as status', { kind: 'value', value: { statusCode: '502' } }, 502],
    ['the last of them', { kind: 'value', value: { statusCode: 599 } }, 599],
    ['beyond them', { kind: 'value', value: { statusCode: 600 } }, 600],
    ['a boxed status', { kind: 'value', value: { statusCode: Object(503) } }, 503],
    ['one that only its JSON shows', { kind: 'value', value: { toJSON: () => ({ statusCode: 500 }) } }, 500],
    [
      'one that its JSON shows late',
      { kind: 'value', value: { toJSON: () => ({ toJSON: () => ({ statusCode: '503' }) }) } },
      503,
    ],
    ['with a stream', { kind: 'value', value: { statusCode: 500, body: Readable.from([]) } }, 500],
    ['too large', { kind: 'value', value: { statusCode: 500, body: 'x'.repeat(500_000) } }, 500],
    ['a rejection', { kind: 'rejection', rejection: { ...rejection, status: 500 } }, 500],
    ['a not-kept', { kind: 'not-kept', reason: 'too-large', status: 503 }, 503],
  ];
  test.each(errors)('L12: %s', (_name, outcome, status) => {
    expect(encodeOutcome(outcome)).toEqual({ kind: 'server-error', status });
  });

  test.each([[{ statusCode: 499 }], [{ statusCode: '200' }], [{ body: 500 }], [500], [{ statusCode: null }]])(
    '%j is none',
    (value) => {
      expect(replayed(value)).toStrictEqual(value);
    },
  );
});
