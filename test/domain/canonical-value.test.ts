import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { serialize } from '../../src/domain/canonical-json.ts';
import { toJson } from '../../src/domain/canonical-value.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import { IdempotencyError } from '../../src/index.ts';

const digest = (value: unknown): string => fingerprintOf(toJson(value));

describe('F05: different values, different digests', () => {
  const date = (text: string) => new Date(text);
  const pairs: [string, unknown, unknown][] = [
    ['dates', date('2026-01-01T00:00:00.000Z'), date('2026-01-01T00:00:00.001Z')],
    ['a date and its text', date('2026-01-01T00:00:00.000Z'), '2026-01-01T00:00:00.000Z'],
    ['bigints', 1n, 2n],
    ['bigints past 2^53', 9007199254740992n, 9007199254740993n],
    ['a bigint and its number', 1n, 1],
    ['a bigint and its text', 1n, '1'],
    ['buffers', Buffer.from([0]), Buffer.from([1])],
    ['lengths of buffers', Buffer.from([0]), Buffer.from([0, 0])],
    ['views of one memory', new Uint8Array([1, 2]).subarray(1), new Uint8Array([1, 2])],
    ['a buffer and its base64', Buffer.from('a'), 'YQ=='],
    ['two element types of the same bytes', new Uint16Array([1]), new Uint8Array([1, 0])],
    ['a float and its bytes', new Float32Array([0]), new Int32Array([0])],
    ['a view and its bytes', new DataView(new ArrayBuffer(1)), new Uint8Array(1)],
    [
      'a date and an object in its digest’s form',
      date('2026-01-01'),
      { '\0': ['date', '2026-01-01T00:00:00.000Z'] },
    ],
    ['a bigint and an object in its digest’s form', 1n, { '\0': ['bigint', '1'] }],
    [
      'such an object, once and twice',
      { '\0': ['bigint', '1'] },
      { '\0': ['object', { '\0': ['bigint', '1'] }] },
    ],
    ['NUL names', { '\0': 1 }, { '\0': 2 }],
    ['an absent member and null', {}, { a: null }],
    ['a list and an object', [1], { 0: 1 }],
    ['`__proto__` and nothing', JSON.parse('{"__proto__":1}'), {}],
    ['a lone surrogate and its replacement', { s: '\ud800' }, { s: '\ufffd' }],
  ];
  test.each(pairs)('F04 F05: %s', (_name, one, other) => {
    expect(digest(one)).not.toBe(digest(other));
    expect(digest({ deep: [one] })).not.toBe(digest({ deep: [other] }));
  });
});

describe('F05: equal values, equal digests', () => {
  class Money {
    #cents = 100;
    toJSON(): object {
      return { cents: this.#cents };
    }
  }
  const pairs: [string, unknown, unknown][] = [
    ['undefined members vanish', { a: undefined }, {}],
    ['dates', new Date(5), new Date(5)],
    ['bytes, however they are held', Buffer.from([1, 2]), new Uint8Array([0, 1, 2]).subarray(1)],
    ['a toJSON of the value’s own', { price: new Money() }, { price: { cents: 100 } }],
    ['an URL and its text', new URL('https://a.example/b'), 'https://a.example/b'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['an object of another realm', runInNewContext('({ a: [1, { b: 2 }] })'), { a: [1, { b: 2 }] }],
    ['a frozen object', Object.freeze({ a: Object.freeze([1]) }), { a: [1] }],
    ['-0, which JSON does not have', [-0], [0]],
    ['the same object twice is no cycle', [Object.prototype, Object.prototype], [{}, {}]],
  ];
  test.each(pairs)('F05: %s', (_name, one, other) => {
    expect(digest(one)).toBe(digest(other));
  });

  test('names are sorted, members of `__proto__` stay', () => {
    expect(serialize(toJson({ b: 1, a: { ['__proto__']: 'secret' }, Z: undefined }))).toBe(
      '{"a":{"__proto__":"secret"},"b":1}',
    );
  });
});

describe('F04 F05: no faithful digest, so refused with its path and never its value', () => {
  class Secret {
    readonly value = 'secret-4711';
  }
  const cyclic: { self?: unknown } = {};
  cyclic.self = { cyclic };
  const deep = JSON.parse(`${'['.repeat(501)}"secret-4711"${']'.repeat(501)}`) as unknown;
  const endless = { toJSON: (): object => ({ ...endless }) };
  const refusals: [string, unknown, string][] = [
    ['NaN', { x: Number.NaN }, 'input.x is NaN'],
    ['Infinity', [1, -Infinity], 'input[1] is -Infinity'],
    ['undefined itself', undefined, 'input is undefined'],
    ['undefined in a list', [undefined], 'input[0] is undefined'],
    ['a hole in a list', Object.assign([1, 2], { length: 3 }), 'input[2] is undefined'],
    ['a Map', { a: { b: new Map([['k', 'secret-4711']]) } }, 'input.a.b is an instance of Map'],
    ['a Set', new Set(['secret-4711']), 'input is an instance of Set'],
    ['an Error', [new Error('secret-4711')], 'input[0] is an instance of Error'],
    ['a RegExp', /secret-4711/, 'input is an instance of RegExp'],
    ['a Promise', Promise.resolve('secret-4711'), 'input is an instance of Promise'],
    ['an ArrayBuffer', new ArrayBuffer(1), 'input is an instance of ArrayBuffer'],
    ['a boxed text', Object('secret-4711'), 'input is an instance of String'],
    ['a class instance', [{ a: new Secret() }], 'input[0].a is an instance of Secret'],
    ['an unnamed class', new (class {})(), 'input is an instance of an unnamed class'],
    ['an invalid Date', { at: new Date(Number.NaN) }, 'input.at is an invalid Date'],
    ['a function', { f: () => 'secret-4711' }, 'input.f is function'],
    ['a symbol', { s: Symbol('secret-4711') }, 'input.s is symbol'],
    [
      'a member named by a symbol',
      { where: { [Symbol('gt')]: 5 } },
      'input.where is an object with a member named by a symbol',
    ],
    ['a cycle', cyclic, 'input.self.cyclic is a cycle'],
    ['a toJSON without end', endless, 'input.toJSON()'],
    ['a toJSON that yields NaN', { a: { toJSON: () => Number.NaN } }, 'input.a.toJSON() is NaN'],
    ['what is too deep', deep, 'is nested deeper than 500 levels'],
  ];
  test.each(refusals)('F05: %s', (_name, value, message) => {
    let refusal: unknown;
    try {
      toJson(value);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(IdempotencyError);
    expect(refusal).toMatchObject({ code: 'input-invalid', status: 400 });
    expect((refusal as Error).message).toContain(message);
    expect((refusal as Error).message).not.toContain('secret-4711');
  });

  test('the path starts with the name that the caller gives', () => {
    expect(() => toJson({ a: [Number.NaN] }, 'event.body')).toThrow(/^event\.body\.a\[0\] is NaN, /);
  });

  test('F04: NaN never equals null, undefined in a list never equals null', () => {
    expect(() => digest({ x: Number.NaN })).toThrow();
    expect(() => digest([undefined])).toThrow();
    expect(digest({ x: null })).toBe(digest({ x: null }));
  });
});
