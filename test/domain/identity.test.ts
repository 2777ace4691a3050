import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Identity, operationOf, recordId } from '../../src/domain/identity.ts';

const id = (operation: string, scope: string, key: string): string => recordId({ operation, scope, key });

describe('H10: no two identities share a record', () => {
  const scopesAndKeys: [one: [string, string], other: [string, string]][] = [
    [
      ['a:b', 'c'],
      ['a', 'b:c'],
    ],
    [
      ['a#b', 'c'],
      ['a', 'b#c'],
    ],
    [
      ['a\0b', 'c'],
      ['a', 'b\0c'],
    ],
    [
      ['a%3Ab', 'c'],
      ['a:b', 'c'],
    ],
    [
      ['a', ''],
      ['', 'a'],
    ],
    [
      ['', 'ab'],
      ['a', 'b'],
    ],
    [
      ['ab', 'c'],
      ['a', 'bc'],
    ],
    [
      ['1:a', 'b'],
      ['', '1:a1:b'],
    ],
    [
      ['a1:', 'b'],
      ['a', '1:b'],
    ],
    [
      ['é', 'x'],
      ['e\u0301', 'x'],
    ],
    [
      ['a', 'b '],
      ['a', 'b'],
    ],
    [
      ['A', 'b'],
      ['a', 'b'],
    ],
    [
      ['none', 'k'],
      ['', 'k'],
    ],
  ];
  test.each(scopesAndKeys)('H10: %j and %j', (one, other) => {
    expect(id('place', ...one)).not.toBe(id('place', ...other));
  });

  test('H10: the operation is a part as well, not only a prefix', () => {
    const digestOf = (recordId: string) => recordId.split('#')[1];
    expect(digestOf(id('place', 's', 'k'))).not.toBe(digestOf(id('cancel', 's', 'k')));
    expect(id('place/a', 'b', 'k')).not.toBe(id('place', '/ab', 'k'));
  });

  test('H10: any two', () => {
    const hostile = fc.string({ unit: fc.constantFrom('a', ':', '#', '\0', '1', '%', 'é'), maxLength: 5 });
    const identity = fc.record({ operation: hostile, scope: hostile, key: hostile });
    const same = (a: Identity, b: Identity): boolean =>
      a.operation === b.operation && a.scope === b.scope && a.key === b.key;
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        expect(recordId(one) === recordId(other)).toBe(same(one, other));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the id', () => {
  test('stays the same over versions', () => {
    expect(id('place-order', 'tenant-1', 'key-1')).toBe(
      'place-order#CZEpQwNpPqCLfpj0dHk-6Tl41SiOKX3qPzRgRo4V3Rs',
    );
    expect(id('place-order', 'none', 'schlüssel €')).toBe(
      'place-order#G8sdDf3_HyPSP2O8ngh4XqFYiulRiStM1s1fsWalMTc',
    );
  });

  test('is a digest over the parts, each with its length in bytes in front', () => {
    const digest = createHash('sha256').update('5:place3:éa1:k').digest('base64url');
    expect(id('place', 'éa', 'k')).toBe(`place#${digest}`);
  });

  test.each([
    ['one character', 'k'],
    ['256 characters', 'x'.repeat(256)],
    ['700 euro signs, 2100 bytes', '€'.repeat(700)],
    ['10 kB', 'x'.repeat(10_240)],
    ['a megabyte', 'é'.repeat(524_288)],
  ])('S13: has one length for a key of %s', (_name, key) => {
    const given = id('place', key, key);
    expect(given).toMatch(/^place#[\w-]{43}$/);
    expect(Buffer.byteLength(id('x'.repeat(64), key, key))).toBe(64 + 1 + 43);
  });

  test('H18: holds neither key nor scope', () => {
    const given = id('place', 'tenant-4711', 'alice@example.com');
    for (const secret of ['tenant-4711', 'alice', 'example.com', btoa('alice@example.com')]) {
      expect(given).not.toContain(secret);
    }
  });

  test.each(['place', 'place-order', 'a/b:c.d_e', 'x'.repeat(64)])('tells the operation: %s', (operation) => {
    expect(operationOf(id(operation, 's', 'k'))).toBe(operation);
  });
});
