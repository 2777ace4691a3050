import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { idempotentHttp } from '../../src/index.ts';
import { type Answer, call, problemIn } from '../middleware/support/middy.ts';
import { seatOf } from '../middleware/support/seat.ts';
import { world } from '../middleware/support/world.ts';
import { fronts } from '../support/http.ts';

describe('M16: what is not data', () => {
  const opaque: [string, () => unknown][] = [
    ['a Readable as the body', () => ({ statusCode: 200, body: Readable.from(['a']) })],
    ['a ReadableStream as the body', () => ({ statusCode: 200, body: ReadableStream.from(['a']) })],
    ['a Readable as the result', () => Readable.from(['a'])],
    ['a fetch Response', () => new Response('a', { headers: { etag: '1' } })],
    ['a message of node:http', () => Object.assign(new IncomingMessage(new Socket()), { statusCode: 200 })],
    [
      'an async generator',
      async function* () {
        yield 'a';
      },
    ],
  ];
  test.each(opaque)(
    'M16: %s goes out untouched; the duplicate is told that it was done',
    async (_name, make) => {
      const result = make();
      const { send, records } = seatOf(() => result);
      expect(await send()).toBe(result);
      expect(problemIn(await send())).toMatchObject({ status: 410, code: 'outcome-not-kept' });
      expect(records()[0]?.outcome).toMatch(/^1n\{"reason":"unfaithful"/);
    },
  );
});

describe('H14: binary', () => {
  test('H14: the replay has the same bytes and the flag', async () => {
    const body = Buffer.from([0xff, 0x00, 0x80]).toString('base64');
    const { send } = seatOf(() => ({ statusCode: 200, isBase64Encoded: true, body }));
    const [first, replay] = [await send(), await send()];
    expect(replay).toMatchObject({ isBase64Encoded: true, body } satisfies Partial<Answer>);
    expect(Buffer.from(String(first.body), 'base64')).toEqual(Buffer.from([0xff, 0x00, 0x80]));
  });

  test('H14: one request, once plain and once base64-encoded by the gateway, is one request', async () => {
    const { store } = world();
    const run = vi.fn(() => ({ statusCode: 201, body: '' }));
    const seat = idempotentHttp(run, { store, operation: 'place', scope: 'none' });
    const plain = fronts.v2({ key: 'k', body: '{"b":1,"a":"é"}' });
    const encoded = {
      ...plain,
      body: Buffer.from('{"a":"é","b":1}').toString('base64'),
      isBase64Encoded: true,
    };
    await call(seat, plain);
    expect((await call(seat, encoded)).headers).toEqual({ 'Idempotency-Replayed': 'true' });
    expect(run).toHaveBeenCalledTimes(1);
  });
});
