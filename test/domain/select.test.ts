import { describe, expect, test } from 'vitest';
import { parseJson, serialize } from '../../src/domain/canonical-json.ts';
import { type BodySelection, fingerprintOf, memberAt, select } from '../../src/domain/fingerprint.ts';

function selected(text: string, selection: BodySelection): string {
  const document = parseJson(text);
  if (document === undefined) throw new Error(`not JSON: ${text}`);
  return serialize(select(document, selection));
}

const order = JSON.stringify({
  amount: 10,
  currency: 'EUR',
  note: null,
  customer: { id: 7, email: 'Ada@Example.COM', address: { city: 'Bern' } },
  items: [
    { sku: 'A-1', count: 1 },
    { sku: 'B-2', count: 2 },
  ],
});

describe('F08: the selected members and nothing else', () => {
  const cases: [string, BodySelection, string][] = [
    ['members', { body: ['amount', 'currency'] }, '{"amount":10,"currency":"EUR"}'],
    [
      'the order of the list does not count',
      { body: ['currency', 'amount'] },
      '{"amount":10,"currency":"EUR"}',
    ],
    ['a nested member', { body: ['customer.id'] }, '{"customer.id":7}'],
    ['a whole object', { body: ['customer.address'] }, '{"customer.address":{"city":"Bern"}}'],
    ['a list position', { body: ['items.1.sku'] }, '{"items.1.sku":"B-2"}'],
    [
      'a whole list, in its order',
      { body: ['items'] },
      '{"items":[{"count":1,"sku":"A-1"},{"count":2,"sku":"B-2"}]}',
    ],
    ['null is a value', { body: ['note'] }, '{"note":null}'],
    ['an absent member is left out', { body: ['missing', 'customer.missing.deeper', 'amount.x'] }, '{}'],
    ['no position past the end', { body: ['items.2', 'items.-1', 'items.length', 'items.x'] }, '{}'],
    [
      'nothing inherited',
      { body: ['toString', 'constructor.name', 'customer.__proto__', 'currency.length'] },
      '{}',
    ],
    ['a member twice', { body: ['amount', 'amount'], lowercase: ['amount'] }, '{"amount":10}'],
    [
      'lower case',
      { body: ['amount'], lowercase: ['customer.email'] },
      '{"amount":10,"customer.email":"ada@example.com"}',
    ],
    [
      'lower case inside a selected object',
      { body: ['customer'], lowercase: ['customer.email'] },
      '{"customer":{"address":{"city":"Bern"},"email":"ada@example.com","id":7},"customer.email":"ada@example.com"}',
    ],
    [
      'lower case inside a list',
      { body: ['amount'], lowercase: ['items.0.sku'] },
      '{"amount":10,"items.0.sku":"a-1"}',
    ],
  ];
  test.each(cases)('F08: %s', (_name, selection, expected) => {
    expect(selected(order, selection)).toBe(expected);
  });

  test('F08: lower case without an allow-list compares the whole body, with those members folded', () => {
    const selection = { lowercase: ['email', 'deep.0.code', 'missing', 'count'] };
    expect(
      selected('{"email":"A@B.C","Name":"X","count":1,"deep":[{"code":"Q","other":"Q"}]}', selection),
    ).toBe('{"Name":"X","count":1,"deep":[{"code":"q","other":"Q"}],"email":"a@b.c"}');
  });

  test('`__proto__` is a member like any other', () => {
    expect(selected('{"__proto__":{"A":"B"}}', { body: ['__proto__.A'] })).toBe('{"__proto__.A":"B"}');
    expect(selected('{"__proto__":{"A":"B"}}', { lowercase: ['__proto__.A'] })).toBe(
      '{"__proto__":{"A":"b"}}',
    );
    expect(selected('{"__proto__":1}', { body: ['__proto__'] })).toBe('{"__proto__":1}');
  });

  test('integers past 2^53 keep their digits', () => {
    expect(selected('{"id":9007199254740993,"x":1}', { body: ['id'] })).toBe('{"id":9007199254740993e0}');
  });

  test.each(['[1]', '"text"', '1', 'null'])('%s has no members to select', (text) => {
    expect(selected(text, { body: ['amount'] })).toBe('{}');
    expect(selected(text, { lowercase: ['amount'] })).toBe(text);
  });

  test('the document itself stays as it was', () => {
    const document = parseJson(order) ?? null;
    select(document, { body: ['customer'], lowercase: ['customer.email', 'items.0.sku'] });
    expect(fingerprintOf(document)).toBe(fingerprintOf(parseJson(order) ?? null));
    expect(memberAt(document, ['customer', 'email'])).toBe('Ada@Example.COM');
  });
});

test('F08: in the selection another value is another digest, outside it is not', () => {
  const selection = { body: ['amount'], lowercase: ['email'] };
  const digest = (body: object): string =>
    fingerprintOf(select(parseJson(JSON.stringify(body)) ?? null, selection));
  const first = digest({ amount: 1, email: 'A@b.c', note: 'x' });
  expect(digest({ note: 'y', email: 'a@B.C', amount: 1, more: [] })).toBe(first);
  for (const other of [
    { amount: 2, email: 'a@b.c' },
    { amount: 1 },
    { amount: 1, email: null },
    { amount: '1', email: 'a@b.c' },
  ]) {
    expect(digest(other)).not.toBe(first);
  }
});
