import { describe, expect, test } from 'vitest';
import { dynamoStore, idempotency, idempotent, idempotentHttp } from '../../src/index.ts';
import { adapters, type Options, refusal, run, secret } from './support/refusal.ts';

const durations: [option: string, range: string, tooShort: object | undefined, tooLong: object][] = [
  ['retention', 'from { seconds: 1 } to { days: 1827 }', { milliseconds: 999 }, { days: 1828 }],
  ['lease', 'from { milliseconds: 1 } to { hours: 24 }', { milliseconds: 0 }, { hours: 25 }],
  ['skew', 'from { milliseconds: 0 } to { minutes: 1 }', undefined, { seconds: 61 }],
  ['wait', 'from { milliseconds: 0 } to { minutes: 15 }', undefined, { minutes: 16 }],
];

describe.each(Object.keys(adapters))('P14: %s refuses at construction', (adapter) => {
  const message = (options: Options): string => refusal(() => adapters[adapter]?.(options));

  test.each(durations)('P14: %s that is no duration in its range', (option, range, tooShort, tooLong) => {
    const accepts = `${adapter}: option "${option}" must be a duration object such as { minutes: 5 }, ${range}; got `;
    const wrong: [unknown, string][] = [
      [3600, '3600'],
      [0, '0'],
      [-1, '-1'],
      [Number.NaN, 'NaN'],
      [3_600_000, '3600000'],
      [secret, `a string of ${secret.length} characters`],
      [null, 'null'],
      [[1], 'an object'],
      [{}, 'an object'],
      [{ hours: '1' }, 'an object'],
      [{ hours: -1 }, 'an object'],
      [{ hours: Number.NaN }, 'an object'],
      [{ weeks: 1 }, 'an object'],
      [{ days: Number.MAX_VALUE }, '{"days":1.7976931348623157e+308}'],
      [tooLong, JSON.stringify(tooLong)],
      ...(tooShort === undefined ? [] : [[tooShort, JSON.stringify(tooShort)] as [unknown, string]]),
    ];
    for (const [value, shown] of wrong) expect(message({ [option]: value })).toBe(`${accepts}${shown}.`);
  });

  test.each([
    ['store', undefined, 'option "store" is required: a store, such as dynamoStore().'],
    ['store', {}, 'option "store" must be a store, such as dynamoStore(); got an object.'],
    ['store', null, 'option "store" must be a store, such as dynamoStore(); got null.'],
    [
      'store',
      secret,
      'option "store" must be a store, such as dynamoStore(); got a string of 11 characters.',
    ],
    ['store', dynamoStore, 'option "store" must be a store, such as dynamoStore(); got a function.'],
    ['operation', undefined, 'option "operation" is required: 1 to 64 letters, digits and . _ - / :.'],
    [
      'operation',
      '',
      'option "operation" must be 1 to 64 letters, digits and . _ - / :; got a string of 0 characters.',
    ],
    ['operation', 'place order', 'got a string of 11 characters.'],
    ['operation', 'a#b', 'got a string of 3 characters.'],
    ['operation', 'x'.repeat(65), 'got a string of 65 characters.'],
    ['operation', 'a\n', 'got a string of 2 characters.'],
    [
      'operation',
      { a: 1 },
      'option "operation" must be 1 to 64 letters, digits and . _ - / :; got an object.',
    ],
    [
      'onLapse',
      'retry',
      `option "onLapse" must be 'hold', 'rerun', a function, or { reconcile, settleAfter }; got a string`,
    ],
    ['onLapse', null, 'option "onLapse" must be'],
    ['onLapse', {}, 'option "onLapse" must be'],
    ['onLapse', { reconcile: 'x' }, 'option "onLapse" must be'],
    ['onLapse', { reconcile: run, settleAfter: 60 }, 'option "onLapse" must be'],
    ['onLapse', { reconcile: run, settleAfter: { days: 2 } }, 'option "onLapse" must be'],
    ['onLapse', { reconcile: run, settle: { seconds: 1 } }, 'option "onLapse" must be'],
    ['onLapse', { settleAfter: { seconds: 1 } }, 'option "onLapse" must be'],
    [
      'onFailure',
      'retry',
      `option "onFailure" must be 'release' or 'record' or 'hold', or a function; got a string of 5`,
    ],
    ['classify', 'complete', 'option "classify" must be a function; got a string of 8 characters.'],
    ['observe', console, 'option "observe" must be a function; got an object.'],
    ['scope', 'tenant', `option "scope" must be 'none', or a function; got a string of 6 characters.`],
    ['scope', ['none'], `option "scope" must be 'none', or a function; got an object.`],
    ['key', secret, 'option "key" must be a function; got a string of 11 characters.'],
    ['fingerprint', true, 'option "fingerprint" must be false, or '],
    ['fingerprint', secret, 'option "fingerprint" must be false, or '],
  ])('P14: %s: %j', (option, value, expected) => {
    expect(message({ [option]: value })).toContain(expected);
    expect(message({ [option]: value })).toMatch(new RegExp(`^${adapter}: option "${option}" `));
  });

  test.each(['ttl', 'retentions', 'Lease', 'idempotencyKey', 'toString', '__proto__x'])(
    'P14: the unknown option %s, and says which are known',
    (name) => {
      expect(message({ [name]: secret })).toMatch(
        new RegExp(
          `^${adapter}: unknown option "${name}"; known options: claim, classify, .*lease, .*wait\\.$`,
        ),
      );
    },
  );

  test('P14: retention shorter than lease and skew, and wait longer than the lease', () => {
    const minute = { minutes: 1 };
    expect(message({ lease: minute, retention: minute })).toMatch(
      /"retention" must be at least "lease" \+ "skew"/,
    );
    expect(message({ lease: minute, skew: { seconds: 3 }, retention: { milliseconds: 62_999 } })).toMatch(
      /"retention"/,
    );
    expect(message({ lease: minute, wait: { milliseconds: 60_001 } })).toMatch(
      /"wait" must not be longer than "lease"/,
    );
    const fits = { lease: minute, skew: { seconds: 3 }, retention: { seconds: 63 }, wait: minute };
    expect(message(fits)).toBe('nothing was refused');
  });

  test.each<[string, unknown]>([
    ...durations.map(([option]): [string, unknown] => [option, secret]),
    ['preset', secret],
    ['scope', secret],
    ['key', secret],
    ['onLapse', secret],
    ['onFailure', secret],
    ['header', `${secret} x`],
    ['methods', [secret]],
    ['docsUrl', secret],
    ['fingerprint', { body: secret }],
    ['unknown', secret],
  ])('P14: no message holds what was given as %s', (option, value) => {
    expect(message({ [option]: value })).not.toContain(secret);
  });

  test('P14: options that are no object', () => {
    for (const options of [undefined, null, 5, secret, []]) {
      const build = {
        idempotentHttp: () => idempotentHttp(run, options as never),
        idempotency: () => idempotency(options as never),
        idempotent: () => idempotent(run, options as never),
      };
      expect(refusal(build[adapter as keyof typeof build])).toBe(`${adapter}: options must be an object.`);
    }
  });
});
