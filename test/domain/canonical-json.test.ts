import { describe, expect, test } from 'vitest';
import { parseJson, serialize } from '../../src/domain/canonical-json.ts';
import { canonicalNumber, spell } from '../../src/domain/canonical-number.ts';

/** The canonical form of a JSON text, or `undefined` when it is not one. */
function canonical(text: string): string | undefined {
  const document = parseJson(text);
  return document === undefined ? undefined : serialize(document);
}

describe('RFC 8785', () => {
  const sample = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;

  test('F02: section 3.2.3, the sample in canonical form', () => {
    expect(canonical(sample)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test('F02: section 3.2.4, the same as UTF-8', () => {
    expect(Buffer.from(canonical(sample) ?? '').toString('hex')).toBe(
      '7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333332e' +
        '333333333333332c31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c753030306' +
        '65c6e4127425c225c5c5c5c5c222f227d',
    );
  });

  test('F02: section 3.2.3, names sorted by UTF-16 code units', () => {
    const unsorted = String.raw`{
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
    }`;
    expect(canonical(unsorted)).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",' +
        '"\u20ac":"Euro Sign","\u{1f600}":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    );
  });

  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('appendix B: the double %s is spelled %s', (bits, expected) => {
    const double = Buffer.from(bits, 'hex').readDoubleBE();
    expect(spell(double)).toBe(expected);
    expect(canonicalNumber(JSON.stringify(double))).toBe(expected);
    expect(canonicalNumber(expected)).toBe(expected);
  });
});

describe('F04: text that is not well-formed or not JSON', () => {
  test('F04: a lone surrogate keeps its escape, so it equals neither its replacement nor its spelling', () => {
    expect(canonical(String.raw`"\ud800"`)).toBe(String.raw`"\ud800"`);
    expect(canonical(String.raw`"\uD83D\uDE00"`)).toBe('"\u{1f600}"');
    const all = [String.raw`"\ud800"`, String.raw`"\udc00"`, String.raw`"\ufffd"`, String.raw`"\\ud800"`];
    expect(new Set(all.map(canonical)).size).toBe(4);
    expect(canonical(String.raw`{"\udc00": 1, "\ud800": 2}`)).toBe(String.raw`{"\ud800":2,"\udc00":1}`);
  });

  test.each([
    '',
    ' ',
    '{bad',
    '{"a":1,}',
    "{'a':1}",
    '[1 2]',
    '01',
    '+1',
    '.5',
    '1.',
    '0x10',
    'NaN',
    'Infinity',
    'undefined',
    '"\n"',
    String.raw`"\x41"`,
    '\ufeff{}',
    '{} {}',
  ])('F04 M15: %j is not JSON', (text) => {
    expect(parseJson(text)).toBeUndefined();
  });
});

describe('shape', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  test('500 levels are read, a hostile depth is not JSON to us and does not crash', () => {
    expect(canonical(nested(500))).toBe(nested(500));
    expect(canonical(`${'{"a":'.repeat(499)}1${'}'.repeat(499)}`)).toBeDefined();
    for (const text of [nested(501), nested(100_000), '['.repeat(100_000), '{"a":'.repeat(100_000)]) {
      expect(parseJson(text)).toBeUndefined();
    }
  });

  test('`__proto__` is a name like any other, at every depth', () => {
    expect(canonical('{"__proto__": {"b": 1, "a": 2}, "A": []}')).toBe('{"A":[],"__proto__":{"a":2,"b":1}}');
    expect(canonical('[{"__proto__": null}]')).toBe('[{"__proto__":null}]');
    expect(canonical('{"constructor": 1, "toString": 2}')).toBe('{"constructor":1,"toString":2}');
  });

  test('of duplicate names the last one counts, as it does for JSON.parse, with its own digits', () => {
    expect(canonical('{"a": 9007199254740993, "a": 1}')).toBe('{"a":1}');
    expect(canonical('{"a": 1, "a": 9007199254740993}')).toBe('{"a":9007199254740993e0}');
    expect(canonical('{"a": {"x": 1}, "a": [2.0]}')).toBe('{"a":[2]}');
  });

  test('names that look like array positions are sorted as text', () => {
    expect(canonical('{"10": 1, "9": 2, "1": 3, "-1": 4, "": 5}')).toBe('{"":5,"-1":4,"1":3,"10":1,"9":2}');
  });
});
