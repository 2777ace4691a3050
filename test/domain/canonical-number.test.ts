import { describe, expect, test } from 'vitest';
import { parseJson, serialize } from '../../src/domain/canonical-json.ts';
import { canonicalNumber } from '../../src/domain/canonical-number.ts';

describe('one number, many spellings', () => {
  test.each([
    ['0', ['0', '-0', '0.0', '-0.00', '0e0', '0e99', '0E-400', '-0e+400']],
    ['1', ['1', '1.0', '1e0', '1E+0', '10e-1', '0.1e1', '1000e-3', '1e-0']],
    ['-1.5', ['-1.5', '-1.50', '-15e-1', '-0.15E1']],
    ['1e+21', ['1e21', '1E+21', '1000000000000000000000', '0.1e22', '1000000000000000000000.0']],
    ['1e+23', ['1e23', '100000000000000000000000', '10e22']],
    ['9007199254740991', ['9007199254740991', '9007199254740991.0', '9.007199254740991e15']],
    ['9007199254740992', ['9007199254740992', '9007199254740992.00', '9007199254.740992e6']],
    ['0.1', ['0.1', '1e-1', '0.1000', '0.1000000000000000055511151231257827']],
    [
      '9007199254740993e0',
      ['9007199254740993', '9007199254740993.0', '9.007199254740993e15', '90071992547409930e-1'],
    ],
    ['-9007199254740993e0', ['-9007199254740993', '-900719925474099.3e1']],
    ['1e400', ['1e400', '10e399', '0.01E402', '1.0e+400']],
    ['-1e400', ['-1e400', '-10e399']],
    ['1e-400', ['1e-400', '0.1e-399', '10e-401']],
  ])('F01: %s', (expected, spellings) => {
    expect(spellings.map(canonicalNumber)).toEqual(spellings.map(() => expected));
  });
});

describe('numbers that a double makes equal', () => {
  const kept: [string, string[]][] = [
    ['integers past 2^53', ['9007199254740992', '9007199254740993', '9007199254740994', '9007199254740995']],
    ['the same, negative', ['-9007199254740992', '-9007199254740993', '9007199254740993']],
    ['order ids of 19 digits', ['1234567890123456788', '1234567890123456789', '1234567890123456790']],
    ['2^64 and the text that a double prints for it', ['18446744073709551616', '18446744073709552000']],
    [
      'neighbours of 1e23',
      ['99999999999999991611392', '100000000000000000000000', '100000000000000000000001'],
    ],
    ['fractions past 2^53', ['9007199254740992', '9007199254740992.5', '9007199254740993.5']],
    ['what overflows', ['1e309', '1e400', '2e400', '-1e400', '1e99999999999999999999']],
    ['what underflows', ['0', '1e-324', '1e-400', '-1e-400', '1e-99999999999999999999']],
  ];
  test.each(kept)('F01: %s are kept apart', (_name, literals) => {
    expect(new Set(literals.map(canonicalNumber)).size).toBe(literals.length);
  });

  test('F01: below 2^53 the double decides, as RFC 8785 says', () => {
    expect(canonicalNumber('0.30000000000000004')).toBe('0.30000000000000004');
    expect(canonicalNumber('0.300000000000000041')).toBe('0.30000000000000004');
    expect(canonicalNumber('9007199254740991.4')).toBe('9007199254740991');
    expect(canonicalNumber('4.9406564584124654e-324')).toBe('5e-324');
    expect(canonicalNumber('2e-324')).toBe('2e-324');
  });

  test('no kept spelling is one that a double has', () => {
    for (const literal of ['9007199254740993', '1e400', '1e-400', '100000000000000000000001']) {
      expect(canonicalNumber(literal)).not.toBe(String(Number(canonicalNumber(literal))));
    }
  });
});

describe('hostile numbers', () => {
  test('a million digits cost milliseconds, not a timeout', () => {
    const zeros = '0'.repeat(1_000_000);
    const started = performance.now();
    expect(canonicalNumber(`1${zeros}1`)).toBe(`1${zeros}1e0`);
    expect(canonicalNumber(`1${zeros}`)).toBe('1e1000000');
    expect(canonicalNumber(`0.${zeros}1`)).toBe('1e-1000001');
    expect(canonicalNumber(`1.${zeros}`)).toBe('1');
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test('an exponent that nobody writes makes the text no JSON to us', () => {
    const exponent = '9'.repeat(1_000_000);
    const started = performance.now();
    for (const text of [`1e${exponent}`, `[1e-${exponent}]`]) {
      // not `toBeUndefined`, which would print the digits
      expect(parseJson(text) === undefined).toBe(true);
    }
    expect(performance.now() - started).toBeLessThan(100);
    expect(serialize(parseJson(`1e${'9'.repeat(30)}`) ?? null)).toBe(`1e${'9'.repeat(30)}`);
    expect(serialize(parseJson(`1e${'0'.repeat(200)}1`) ?? null)).toBe('10');
  });
});
