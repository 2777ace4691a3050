import { describe, expect, test, vi } from 'vitest';
import { type HttpEvent, type HttpOptions, idempotentHttp } from '../../src/index.ts';
import { call } from '../middleware/support/middy.ts';
import { world } from '../middleware/support/world.ts';
import { fronts } from '../support/http.ts';

type Options = Partial<HttpOptions<HttpEvent, unknown, unknown>>;
const event = (front: keyof typeof fronts = 'v2') => fronts[front]({ key: 'k', body: { amount: 1 } });

/** The first answer and its replay. */
async function twice(result: unknown, options: Options = {}, front?: keyof typeof fronts) {
  const { store } = world();
  const run = vi.fn(async () => result);
  const seat = idempotentHttp(run, { store, operation: 'place', scope: 'none', ...options });
  const [first, replay] = [await call(seat, event(front)), await call(seat, event(front))];
  expect(run).toHaveBeenCalledTimes(1);
  return { first, replay };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

const personal = {
  'Set-Cookie': 'session=1',
  'www-authenticate': 'Bearer',
  DATE: 'today',
  'x-request-id': '1',
  'X-Amzn-Trace-Id': 'Root=1',
  'RateLimit-Remaining': '9',
  'X-RateLimit-Reset': '1',
  Connection: 'close',
};
const lasting = { Location: '/orders/1', ETag: '"1"', 'Content-Type': 'application/json', 'X-Own': '1' };

describe('H11: which headers replay', () => {
  test('H11: what belongs to one exchange is left out, what describes the answer stays', async () => {
    const result = {
      statusCode: 201,
      headers: { ...personal, ...lasting },
      cookies: ['session=1'],
      body: '{}',
    };
    const { first, replay } = await twice(result);
    expect(first).toEqual(result);
    expect(replay).toEqual({
      statusCode: 201,
      headers: { ...lasting, 'Idempotency-Replayed': 'true' },
      body: '{}',
    });
  });

  test('H11: in multiValueHeaders as well, with the same multiplicity', async () => {
    const multiValueHeaders = { 'set-cookie': ['a=1', 'b=2'], Link: ['</1>', '</2>'] };
    const { replay } = await twice({ statusCode: 201, multiValueHeaders, body: '' }, {}, 'v1');
    expect(replay).toEqual({
      statusCode: 201,
      multiValueHeaders: { Link: ['</1>', '</2>'], 'Idempotency-Replayed': ['true'] },
      body: '',
    });
  });

  test('H11: neither is stored', async () => {
    const { store, rows } = world();
    const result = { statusCode: 201, headers: personal, cookies: ['session=1'], body: '' };
    const seat = idempotentHttp(async () => result, { store, operation: 'place', scope: 'none' });
    await call(seat, event());
    expect(rows()).not.toContain('session=1');
    expect(rows()).not.toContain('Bearer');
  });

  test('H11: an answer without a status, which API Gateway v1 sends as 200, keeps its session as well', async () => {
    const headers = { 'Set-Cookie': 'session=1', Location: '/orders/1' };
    const { replay } = await twice({ headers, body: '' }, {}, 'v1');
    expect(replay.headers).not.toHaveProperty('Set-Cookie');
    expect(replay.headers).toMatchObject({ Location: '/orders/1' });
  });

  test.each([
    ['none at all', [], ['set-cookie', 'x-own', 'etag'], true],
    ['names of one’s own, in any case', ['X-OWN'], ['set-cookie', 'etag'], true],
    ['a prefix', ['x-*', 'set-cookie'], ['etag'], false],
  ] as [string, string[], string[], boolean][])(
    'H11: denyHeaders: %s',
    async (_name, denyHeaders, kept, cookies) => {
      const headers = { 'Set-Cookie': 'a=1', 'X-Own': '1', ETag: '"1"' };
      const result = { statusCode: 201, headers, cookies: ['a=1'], body: '' };
      const { replay } = await twice(result, { denyHeaders });
      const names = Object.keys(replay.headers ?? {}).map((name) => name.toLowerCase());
      expect(names.sort()).toEqual([...kept, 'idempotency-replayed'].sort());
      expect(replay.cookies).toEqual(cookies ? ['a=1'] : undefined);
    },
  );
});

describe('H13: the mark', () => {
  const shaped: [string, object][] = [
    ['no headers object', { statusCode: 201, body: '' }],
    ['headers null', { statusCode: 201, headers: null, body: '' }],
    ['no body', { statusCode: 204 }],
  ];
  test.each(shaped)('H13: %s: the replay is marked, the first answer is not', async (_name, result) => {
    const { first, replay } = await twice(result);
    expect(first).toEqual(result);
    expect(replay).toEqual({ ...result, headers: { 'Idempotency-Replayed': 'true' } });
  });

  const unshaped: [string, unknown][] = [
    ['a text', 'done'],
    ['a plain object that API Gateway v2 makes a 200 of', { orderId: 1, headers: 'two' }],
    ['a list', [1]],
    ['null', null],
    ['nothing', undefined],
    ['false', false],
  ];
  test.each(unshaped)('H13 L12: %s replays unchanged', async (_name, result) => {
    const { first, replay } = await twice(result);
    expect(first).toBe(result);
    expect(replay).toEqual(result);
  });

  test('H13: a frozen answer is neither changed nor a problem', async () => {
    const result = deepFreeze({
      statusCode: 201,
      headers: { Date: 'now', ETag: '1' },
      cookies: ['a'],
      body: '',
    });
    const { first, replay } = await twice(result);
    expect(first).toBe(result);
    expect(replay.headers).toEqual({ ETag: '1', 'Idempotency-Replayed': 'true' });
  });

  test('H13: an answer that knows its JSON replays as Lambda would have sent it', async () => {
    class Reply {
      readonly statusCode = 201;
      readonly #body = 'private';
      toJSON(): object {
        return { statusCode: this.statusCode, headers: { 'Set-Cookie': 'a=1', ETag: '1' }, body: this.#body };
      }
    }
    const { replay } = await twice(new Reply());
    expect(replay).toEqual({
      statusCode: 201,
      headers: { ETag: '1', 'Idempotency-Replayed': 'true' },
      body: 'private',
    });
  });
});
