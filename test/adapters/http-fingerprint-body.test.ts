import { describe, expect, test } from 'vitest';
import { readHttp } from '../../src/adapters/http/event.ts';
import { fingerprintHttp } from '../../src/adapters/http/fingerprint.ts';
import type { BodySelection } from '../../src/domain/fingerprint.ts';
import type { HttpEvent } from '../../src/index.ts';
import { fronts } from '../support/http.ts';

function digest(event: HttpEvent, selection: BodySelection = {}): string {
  const request = readHttp(event);
  if (request === undefined) throw new Error('not HTTP');
  return fingerprintHttp(request, selection);
}

const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64');
const sent = (body: unknown, isBase64Encoded = false): HttpEvent => ({
  ...fronts.v2({}),
  body,
  isBase64Encoded,
});

describe('H14: the body by its meaning', () => {
  test('H14: the same, plain and base64-encoded by the gateway', () => {
    for (const text of ['{"b":1,"a":"é"}', 'a=1', 'é', '{bad', '\ufeff{}', '9007199254740993', 'null']) {
      expect(digest(sent(base64(text), true))).toBe(digest(sent(text)));
    }
    expect(digest(sent(base64('{"a":1,"b":2}'), true))).toBe(digest(sent('{ "b": 2.0, "a": 1e0 }')));
  });

  test('H14: the flag counts: base64 text that was sent as text is text', () => {
    expect(digest(sent(base64('{}'), false))).not.toBe(digest(sent('{}')));
  });

  test('H14: bytes that are no text are compared as bytes', () => {
    const bodies = [[0xff], [0xfe], [0xff, 0xff], [0xef, 0xbf, 0xbd], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0]];
    const all = bodies.map((bytes) => digest(sent(base64(Uint8Array.from(bytes)), true)));
    expect(new Set(all).size).toBe(bodies.length);
    expect(digest(sent('\ufffd'))).toBe(all[3]);
  });

  test('F04: text with a lone surrogate does not equal its replacement', () => {
    const bodies = ['a\ud800', 'a\udc00', 'a\ufffd', '"\ud800"', '"\ufffd"', String.raw`"\ufffd"`];
    expect(new Set(bodies.map((body) => digest(sent(body)))).size).toBe(5);
  });

  test('H14: a byte order mark makes JSON another body', () => {
    expect(digest(sent('\ufeff{}'))).not.toBe(digest(sent('{}')));
  });

  test('M15: no body, JSON and bytes are three kinds', () => {
    const none = [undefined, null, ''].map((body) => digest(sent(body)));
    expect(new Set(none).size).toBe(1);
    const others = [
      '{}',
      '[]',
      'null',
      '""',
      '["empty"]',
      '["json",{}]',
      '["bytes",""]',
      '{bad',
      '{bad ',
      ' ',
    ];
    expect(new Set([...none, ...others.map((body) => digest(sent(body)))]).size).toBe(others.length + 1);
  });

  test('M13: a body that a parser has parsed is the same', () => {
    const body = { b: [1, null, 'é'], a: { c: 1.5 } };
    expect(digest(sent(body))).toBe(digest(sent(JSON.stringify(body))));
    expect(() => digest(sent({ a: [Number.NaN] }))).toThrow(/^event\.body\.a\[0\] is NaN/);
  });
});

describe('F08: a selection of the body', () => {
  const selection = { body: ['amount', 'customer.id'], lowercase: ['customer.email'] };
  const order = { amount: 1, customer: { id: 7, email: 'a@b.c', name: 'A' }, sentAt: 1 };
  const of = (body: unknown, query = '') => digest({ ...fronts.v2({ query }), body }, selection);
  const text = JSON.stringify(order);

  test('F08: outside the selection nothing counts, inside everything', () => {
    const same = [
      { ...order, sentAt: 2 },
      { customer: { email: 'A@B.C', id: 7 }, amount: 1 },
    ];
    const others = [
      { ...order, amount: 2 },
      { ...order, amount: '1' },
      { ...order, customer: { id: 8, email: 'a@b.c' } },
      { ...order, customer: { id: 7 } },
      { ...order, customer: null },
    ];
    for (const body of same) expect(of(JSON.stringify(body))).toBe(of(text));
    for (const body of others) expect(of(JSON.stringify(body))).not.toBe(of(text));
  });

  test('F08: method, path and query count all the same', () => {
    expect(of(text, 'a=1')).not.toBe(of(text));
    expect(digest({ ...fronts.v1({ path: '/other' }), body: text }, selection)).not.toBe(of(text));
  });

  test('F08: parsed, plain and base64-encoded are one; what is not JSON counts whole', () => {
    expect(of(order)).toBe(of(text));
    expect(digest({ ...sent(base64(text), true) }, selection)).toBe(of(text));
    expect(of('{bad 1')).not.toBe(of('{bad 2'));
  });
});
