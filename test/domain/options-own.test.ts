import { describe, expect, test } from 'vitest';
import { dynamoStore, idempotent } from '../../src/index.ts';
import { adapters, type Options, refusal, run, secret } from './support/refusal.ts';

describe.each(['idempotentHttp', 'idempotency'])('P14: %s, about HTTP', (adapter) => {
  const message = (options: Options): string => refusal(() => adapters[adapter]?.(options));
  const selection =
    'option "fingerprint" must be false, or { body: [paths], lowercase: [paths] }, or a function; got an object.';
  const methods = 'option "methods" must be a list of at least one upper-case HTTP method; got ';

  test.each([
    ['scope', undefined, `option "scope" is required: 'none', or a function.`],
    ['fingerprint', {}, selection],
    ['fingerprint', [], selection],
    ['fingerprint', ['amount'], selection],
    ['fingerprint', { body: [] }, selection],
    ['fingerprint', { body: 'amount' }, selection],
    ['fingerprint', { body: [''] }, selection],
    ['fingerprint', { body: [1] }, selection],
    ['fingerprint', { lowercase: [] }, selection],
    ['fingerprint', { body: ['amount'], lowercase: [] }, selection],
    ['fingerprint', { body: ['amount'], headers: ['x'] }, selection],
    ['methods', [], methods],
    ['methods', 'POST', `${methods}a string of 4 characters.`],
    ['methods', ['post'], methods],
    ['methods', ['POST', null], methods],
    ['methods', [['POST']], methods],
    ['methods', ['POST '], methods],
    ['header', '', 'option "header" must be a header name; got a string of 0 characters.'],
    ['header', 'Idempotency Key', 'option "header" must be a header name'],
    ['header', 'Key:', 'option "header" must be a header name'],
    ['header', null, 'option "header" must be a header name; got null.'],
    ['header', 5, 'option "header" must be a header name; got 5.'],
    ['header', ['Key'], 'option "header" must be a header name; got an object.'],
    ['replayedHeader', true, 'option "replayedHeader" must be a header name; got true.'],
    ['required', 'yes', 'option "required" must be true or false; got a string of 3 characters.'],
    ['required', 0, 'option "required" must be true or false; got 0.'],
    ['preset', 'paypal', `option "preset" must be 'ietf' or 'stripe'; got a string of 6 characters.`],
    ['preset', 'toString', `option "preset" must be 'ietf' or 'stripe'; got a string of 8 characters.`],
    ['mismatchStatus', 418, 'option "mismatchStatus" must be 422, 409 or 400; got 418.'],
    [
      'mismatchStatus',
      '422',
      'option "mismatchStatus" must be 422, 409 or 400; got a string of 3 characters.',
    ],
    [
      'denyHeaders',
      'Set-Cookie',
      'option "denyHeaders" must be a list of non-empty strings; got a string of 10 characters.',
    ],
    ['denyHeaders', [5], 'option "denyHeaders" must be a list of non-empty strings; got an object.'],
    ['denyHeaders', null, 'option "denyHeaders" must be a list of non-empty strings; got null.'],
    ['docsUrl', '/docs', 'option "docsUrl" must be an absolute URL; got a string of 5 characters.'],
    ['docsUrl', new URL('https://a.example'), 'option "docsUrl" must be an absolute URL; got an object.'],
  ])('P14: %s: %j', (option, value, expected) => {
    expect(message({ [option]: value })).toContain(`${adapter}: ${expected}`);
  });

  test('P14: what is right is taken', () => {
    for (const options of [
      { fingerprint: { body: ['amount', 'customer.id'], lowercase: ['customer.email'] } },
      { fingerprint: { lowercase: ['email'] } },
      { fingerprint: false },
      { fingerprint: () => 1 },
      { methods: ['PUT'], header: 'x-key', required: false, preset: 'stripe', mismatchStatus: 409 },
      { denyHeaders: [], docsUrl: 'https://docs.example/idempotency', replayedHeader: 'X-Replayed' },
      { onLapse: { reconcile: run, settleAfter: { milliseconds: 0 } }, onFailure: 'record' },
      { retention: undefined, lease: undefined, key: undefined },
    ]) {
      expect(message(options)).toBe('nothing was refused');
    }
  });
});

test('P14: idempotent needs a key, and knows no HTTP', () => {
  const message = (options: Options): string => refusal(() => adapters.idempotent?.(options));
  expect(message({ key: undefined })).toBe('idempotent: option "key" is required: a function.');
  expect(message({ fingerprint: { body: ['a'] } })).toBe(
    'idempotent: option "fingerprint" must be false, or a function; got an object.',
  );
  for (const name of ['header', 'methods', 'preset', 'docsUrl', 'required', 'denyHeaders']) {
    expect(message({ [name]: 1 })).toContain(`idempotent: unknown option "${name}"`);
  }
  expect(refusal(() => idempotent(secret as never, {} as never))).toBe(
    'idempotent: the first argument must be a function.',
  );
});

describe('P14: dynamoStore', () => {
  test.each([
    [{ table: secret }, 'unknown option "table"; known options: client, endpoint, now, region, tableName.'],
    [{ ttl: 5 }, 'unknown option "ttl"; known options: client, endpoint, now, region, tableName.'],
    [{ tableName: '' }, 'option "tableName" must be a non-empty string; got a string of 0 characters.'],
    [{ tableName: 5 }, 'option "tableName" must be a non-empty string; got 5.'],
    [{ tableName: null }, 'option "tableName" must be a non-empty string; got null.'],
    [{ client: {} }, 'option "client" must be an object with a `send` method; got an object.'],
    [
      { client: secret },
      'option "client" must be an object with a `send` method; got a string of 11 characters.',
    ],
    [
      { endpoint: new URL('http://a.example') },
      'option "endpoint" must be a non-empty string; got an object.',
    ],
    [{ region: '' }, 'option "region" must be a non-empty string; got a string of 0 characters.'],
    [{ now: 0 }, 'option "now" must be a function; got 0.'],
    [null, 'options must be an object.'],
    [secret, 'options must be an object.'],
  ])('P14: %j', (options, expected) => {
    expect(refusal(() => dynamoStore(options as never))).toBe(`dynamoStore: ${expected}`);
  });

  test('P09: none of them is needed, and nothing is read yet', () => {
    expect(refusal(() => dynamoStore())).toBe('nothing was refused');
    expect(refusal(() => dynamoStore({}))).toBe('nothing was refused');
  });
});
