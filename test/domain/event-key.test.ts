import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eventKey } from '../../src/index.ts';

describe('eventKey', () => {
  test('puts the values into the template, as often as they are named', () => {
    expect(eventKey('notify:order:{id}:confirmation', { id: 'o-1' })).toBe('notify:order:o-1:confirmation');
    expect(eventKey('{a}:{b}:{a}', { a: 1, b: 'x' })).toBe('1:x:1');
    expect(eventKey('daily', {})).toBe('daily');
  });

  test('the same event gives the same key, whatever order its members have and whatever else it says', () => {
    const [one, other] = [
      { id: 7, type: 'paid', extra: 'x' },
      { type: 'paid', id: '7' },
    ];
    expect(eventKey('{type}:{id}', one)).toBe(eventKey('{type}:{id}', other));
  });

  test.each([
    ['not there', {}],
    ['undefined', { id: undefined }],
    ['null', { id: null as unknown as undefined }],
    ['empty', { id: '' }],
    ['inherited', Object.create({ id: 'o-1' }) as { id: string }],
  ])('a value that is %s is key-missing, and the error names its place, not the others', (_name, values) => {
    const make = (): string => eventKey('order:{secret}:{id}', { secret: 'ann@example.com', ...values });
    expect(make).toThrow(/\{id\}/);
    expect(make).not.toThrow(/ann@example\.com/);
    expect(make).toThrow(expect.objectContaining({ code: 'key-missing', status: 400 }));
  });

  test('0 is a value', () => {
    expect(eventKey('order:{line}', { line: 0 })).toBe('order:0');
  });

  test('names that every object has are no values', () => {
    expect(() => eventKey('{constructor}', {})).toThrow(expect.objectContaining({ code: 'key-missing' }));
  });

  test('255 characters are a key, one more is not, and the error does not quote it', () => {
    const values = { id: 'x'.repeat(249) };
    expect(eventKey('order:{id}', values)).toHaveLength(255);
    const tooLong = (): string => eventKey('orders:{id}', values);
    expect(tooLong).toThrow(expect.objectContaining({ code: 'key-invalid' }));
    expect(tooLong).not.toThrow(/xxxx/);
  });

  test.each([
    ['a:b', 'a%3Ab'],
    ['100%', '100%25'],
    ['{id}', '%7Bid%7D'],
    ['%3A', '%253A'],
    ['ann@example.com', 'ann@example.com'],
  ])('%s is written as %s', (value, written) => {
    expect(eventKey('k:{value}', { value })).toBe(`k:${written}`);
  });
});

/** Short texts out of few characters, so that what could be mistaken for something else comes up often. */
const value = (alphabet: string): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...alphabet.split('')), { minLength: 1, maxLength: 3 })
    .map((characters) => characters.join(''));

describe('two lists of values never give one key', () => {
  test.each([
    ['{a}:{b}:{c}', ':%3A{}b'],
    ['x:{a}:x:{b}:x:{c}', 'x:%3A'],
    ['{a}:-{b}-:{c}', '-:%'],
  ])('in the template %s', (template, alphabet) => {
    const list = fc.tuple(value(alphabet), value(alphabet), value(alphabet));
    const lists = fc.uniqueArray(list, { minLength: 100, maxLength: 200, selector: String, size: 'max' });
    fc.assert(
      fc.property(lists, (all) => {
        const keys = all.map(([a, b, c]) => eventKey(template, { a, b, c }));
        expect(new Set(keys).size).toBe(all.length);
      }),
    );
  });

  test.each([
    ['{a}-{b}', ['1-2', '3'], ['1', '2-3']],
    ['{a}/{b}', ['1/2', '3'], ['1', '2/3']],
  ])('in the template %s, which has no colon between its places', (template, one, other) => {
    const make = (): boolean => {
      const [key, otherKey] = [one, other].map(([a, b]) => eventKey(template, { a, b }));
      return key === otherKey;
    };
    expect(make()).toBe(false);
  });
});

test.each(['{a}{b}', '{a}x{b}', 'notify:{a}_{b}'])(
  '%s, with no separator between its places, is refused',
  (template) => {
    expect(() => eventKey(template, { a: '1', b: '2' })).toThrow(
      expect.objectContaining({ code: 'options', message: expect.stringMatching(/separator/) }),
    );
  },
);
