import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/domain/canonical-json.ts';
import { toJson } from '../../src/domain/canonical-value.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import { anyValue, isObject, type Plain, print, type Random } from './support/random-json.ts';

function ofText(text: string): string {
  const document = parseJson(text);
  if (document === undefined) throw new Error(`not JSON: ${text}`);
  return fingerprintOf(document);
}
const ofValue = (value: unknown): string => fingerprintOf(toJson(value));

/** Random decisions while printing, replayable by fast-check. */
const random: fc.Arbitrary<Random> = fc.infiniteStream(fc.nat(0xffff)).map((stream) => (below) => {
  const { value } = stream.next();
  return (value ?? 0) % below;
});

describe('equal meaning, equal digest', () => {
  test('F01: names in any order, white space, number spellings and escapes do not count', () => {
    fc.assert(
      fc.property(anyValue, random, (value, choose) => {
        expect(ofText(print(value, choose))).toBe(ofText(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });

  test('F01 M13: a body that a parser has parsed has the digest of its text', () => {
    fc.assert(
      fc.property(anyValue, random, (value, choose) => {
        const text = print(value, choose);
        expect(ofValue(JSON.parse(text))).toBe(ofText(text));
      }),
      { numRuns: 500 },
    );
  });
});

describe('another meaning, another digest', () => {
  test('F01: two values have one digest only when they are equal', () => {
    const same = (a: Plain, b: Plain): boolean => {
      if (Array.isArray(a) || Array.isArray(b) || !isObject(a) || !isObject(b)) {
        if (Array.isArray(a) && Array.isArray(b))
          return a.length === b.length && a.every((item, index) => same(item, b[index] as Plain));
        return !isObject(a) && !isObject(b) && a === b;
      }
      const names = Object.keys(a);
      return (
        names.length === Object.keys(b).length &&
        names.every((name) => Object.hasOwn(b, name) && same(a[name] as Plain, b[name] as Plain))
      );
    };
    fc.assert(
      fc.property(anyValue, anyValue, (a, b) => {
        expect(ofText(JSON.stringify(a)) === ofText(JSON.stringify(b))).toBe(same(a, b));
      }),
      { numRuns: 500 },
    );
  });

  test('F01: one changed leaf changes the digest', () => {
    const changed = (value: Plain, choose: Random): Plain => {
      if (Array.isArray(value) && value.length > 0) {
        const at = choose(value.length);
        return value.map((item, index) => (index === at ? changed(item, choose) : item));
      }
      if (isObject(value) && Object.keys(value).length > 0) {
        const name = Object.keys(value)[choose(Object.keys(value).length)];
        return Object.fromEntries(
          Object.entries(value).map(([each, item]) => [each, each === name ? changed(item, choose) : item]),
        );
      }
      return typeof value === 'string' ? `${value}x` : JSON.stringify(value);
    };
    fc.assert(
      fc.property(anyValue, random, (value, choose) => {
        expect(ofValue(changed(value, choose))).not.toBe(ofValue(value));
      }),
      { numRuns: 500 },
    );
  });

  test('F01: an array in another order is another array', () => {
    const shuffled = fc
      .uniqueArray(anyValue, { minLength: 2, maxLength: 6, selector: (value) => ofValue(value) })
      .chain((items) => fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length })))
      .filter(([items, other]) => items.some((item, index) => item !== other[index]));
    fc.assert(
      fc.property(shuffled, ([items, other]) => {
        expect(ofValue({ items: other })).not.toBe(ofValue({ items }));
      }),
    );
  });

  test('F01: integers past 2^53 that lie next to each other', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n << 53n, max: 1n << 80n }), fc.boolean(), (integer, negative) => {
        const sign = negative ? -1n : 1n;
        expect(ofText(`${sign * integer}`)).not.toBe(ofText(`${sign * (integer + 1n)}`));
      }),
    );
  });

  test.each([
    ['{"a":{"b":1,"c":2}}', '{"a":{"b":1},"c":2}'],
    ['[1,2]', '[2,1]'],
    ['[{"a":1},{"b":2}]', '[{"b":2},{"a":1}]'],
    ['{"__proto__":{"admin":true}}', '{}'],
    ['{"a":{"__proto__":[]}}', '{"a":{}}'],
    ['{"a":null}', '{}'],
    ['null', '{}'],
    ['"1"', '1'],
    ['"null"', 'null'],
    ['[]', '{}'],
    ['[[]]', '[]'],
    ['[null]', '[]'],
    ['""', '" "'],
    ['"\\u00e9"', '"e\\u0301"'],
    ['true', 'false'],
    ['0', '""'],
    ['["a,b"]', '["a","b"]'],
    ['{"a\\"":1}', '{"a":1}'],
  ])('F01 F04: %s is not %s', (one, other) => {
    expect(ofText(one)).not.toBe(ofText(other));
  });
});
