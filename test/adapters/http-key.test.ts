import { describe, expect, test } from 'vitest';
import { parseKey } from '../../src/adapters/http/key.ts';
import { isIdempotencyError } from '../../src/index.ts';

/** The refusal of a header's values, or what was read. */
function refusal(...values: string[]): string {
  try {
    return `read ${parseKey('Idempotency-Key', values)}`;
  } catch (error) {
    if (!isIdempotencyError(error)) throw error;
    expect(error).toMatchObject({ code: 'key-invalid', status: 400 });
    return error.message;
  }
}

const rule = 'It takes one key of 1 to 255 printable ASCII characters, bare or in double quotes.';

describe('H03: the quoted and the bare form', () => {
  test.each([
    ['abc', 'abc'],
    ['"abc"', 'abc'],
    ['  abc\t', 'abc'],
    [' "abc" ', 'abc'],
    [String.raw`"a\"b"`, 'a"b'],
    ['a"b', 'a"b'],
    [String.raw`"a\\b"`, String.raw`a\b`],
    [String.raw`a\b`, String.raw`a\b`],
    ['"a, b"', 'a, b'],
    ['" a "', ' a '],
    ['a b', 'a b'],
    ["'abc'", "'abc'"],
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['!#$%&()*+-./:;<=>?@[]^_`{|}~', '!#$%&()*+-./:;<=>?@[]^_`{|}~'],
  ])('H03: %j is the key %j', (value, expected) => {
    expect(parseKey('Idempotency-Key', [value])).toBe(expected);
  });

  test.each([
    ['"unterminated'],
    ['"'],
    ['"a"b"'],
    ['"a" b'],
    ['"a"; q=1'],
    [String.raw`"a\b"`],
    [String.raw`"a\"`],
    ['"open, "a"'],
  ])('H03: %j is malformed quoting', (value) => {
    expect(refusal(value)).toBe(`The header Idempotency-Key is not a well-formed quoted string. ${rule}`);
  });
});

describe('H04: what is no key', () => {
  test.each(['', '   ', '\t', ' \t ', '""', '"  "', ',', ' , ,'])('H04: %j is blank', (value) => {
    expect(refusal(value)).toBe(`The header Idempotency-Key is blank. ${rule}`);
  });

  test.each([
    ['a newline at the end', 'k\n'],
    ['a newline at the start', '\nk'],
    ['a carriage return', 'k\r\n'],
    ['a tab inside', 'a\tb'],
    ['a tab inside quotes', '"a\tb"'],
    ['NUL', 'a\0'],
    ['DEL', 'a\x7f'],
    ['a no-break space', '\u00a0k'],
    ['a byte order mark', '\ufeffk'],
    ['é', 'café'],
    ['an emoji', 'k😀'],
    ['a lone surrogate', 'k\ud800'],
    ['a full-width letter', 'ｋ'],
  ])('H04: %s is not printable ASCII', (_name, value) => {
    expect(refusal(value)).toBe(
      `The header Idempotency-Key has characters that are not printable ASCII. ${rule}`,
    );
  });

  test('H04: 255 characters are a key, 256 are refused and not cut', () => {
    const longest = 'x'.repeat(255);
    for (const value of [longest, `"${longest}"`, `  ${longest} `, `"${'\\"'.repeat(255)}"`]) {
      expect(parseKey('Idempotency-Key', [value])).toHaveLength(255);
    }
    expect(refusal(`${longest}x`)).toBe(`The header Idempotency-Key has 256 characters. ${rule}`);
    expect(refusal(`"${longest}x"`)).toBe(`The header Idempotency-Key has 256 characters. ${rule}`);
    expect(refusal('x'.repeat(1000))).toBe(`The header Idempotency-Key has 1000 characters. ${rule}`);
  });

  test('S13: 200 kB of anything is refused quickly', () => {
    const started = performance.now();
    for (const text of ['"', '\\', '"\\', ',', '",', '"a",', ' ', 'x', '" '])
      refusal(text.repeat(200_000 / text.length));
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe('a header that came twice', () => {
  const message = `The header Idempotency-Key has two different values. ${rule}`;
  test.each([
    [['a', 'b']],
    [['a, b']],
    [['a,b']],
    [['"a","b"']],
    [['a', '"b"']],
    [['a"x, y"b']],
    [['a', 'A']],
  ])('%j are two keys', (values) => {
    expect(refusal(...values)).toBe(message);
  });

  test.each([[['a', 'a']], [['a, a']], [['a', '"a"']], [['"a", a']]])('%j are one', (values) => {
    expect(parseKey('Idempotency-Key', values)).toBe('a');
  });

  test.each([[['a', '']], [['', 'a']], [['a', '"']], [['a,']], [[',a']], [['a,,a']], [['a, ']]])(
    '%j hold one that is malformed',
    (values) => {
      expect(refusal(...values)).toMatch(/is blank|quoted string/);
    },
  );

  test('a key with a comma must be quoted', () => {
    expect(parseKey('Idempotency-Key', ['"a,b"', '"a,b"'])).toBe('a,b');
    expect(parseKey('Idempotency-Key', ['"a,b", "a,b"'])).toBe('a,b');
  });

  test('no values are no key', () => {
    expect(parseKey('Idempotency-Key', [])).toBeUndefined();
  });
});

test('H18: no refusal holds the key', () => {
  const secret = 'alice@example.com';
  const values = [
    `"${secret}`,
    `${secret}é`,
    `${secret}\n`,
    `${secret}, b`,
    `${secret}${'x'.repeat(255)}`,
    `"${secret}" x`,
  ];
  for (const value of values) {
    expect(refusal(value)).toMatch(/^The header Idempotency-Key /);
    expect(refusal(value)).not.toContain('alice');
  }
});
