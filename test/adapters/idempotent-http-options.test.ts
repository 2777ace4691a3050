import { describe, expect, test, vi } from 'vitest';
import { type HttpEvent, type HttpOptions, idempotentHttp } from '../../src/index.ts';
import { call, problemIn } from '../middleware/support/middy.ts';
import { world } from '../middleware/support/world.ts';
import { fronts } from '../support/http.ts';

type Options = Partial<HttpOptions<HttpEvent, unknown, unknown>>;

function start(options: Options = {}) {
  const all = world();
  const run = vi.fn((): unknown => ({ statusCode: 201, body: '' }));
  const seat = idempotentHttp(run, { store: all.store, operation: 'place', scope: 'none', ...options });
  return { ...all, run, seat };
}

describe('H16: methods', () => {
  const bypassing: [string, Options, string[]][] = [
    ['by default', {}, ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']],
    ['in the preset stripe', { preset: 'stripe' }, ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH']],
    ['with methods of one’s own', { methods: ['PUT', 'DELETE'] }, ['GET', 'OPTIONS', 'POST', 'PATCH']],
  ];
  test.each(bypassing)(
    'H16: %s the others pass, with and without a key, with no store call',
    async (_name, options, methods) => {
      const { seat, calls, run } = start(options);
      for (const method of methods) {
        for (const parts of [{ method, key: 'k' }, { method }, { method: method.toLowerCase(), key: 'k' }]) {
          expect(await call(seat, fronts.v1(parts))).toEqual({ statusCode: 201, body: '' });
          expect(await call(seat, fronts.v2(parts))).toEqual({ statusCode: 201, body: '' });
        }
      }
      expect(run).toHaveBeenCalledTimes(methods.length * 6);
      expect(calls).toEqual([]);
    },
  );

  test.each([
    [{}, ['POST', 'PATCH']],
    [{ preset: 'stripe' }, ['POST']],
    [{ methods: ['PUT', 'DELETE'] }, ['PUT', 'DELETE']],
  ] as [Options, string[]][])('H16: %j protects exactly %j', async (options, methods) => {
    const { seat, run } = start(options);
    for (const method of methods) {
      for (let time = 0; time < 2; time += 1) await call(seat, fronts.v2({ method, key: method, body: 1 }));
    }
    expect(run).toHaveBeenCalledTimes(methods.length);
  });
});

describe('presets', () => {
  const send = (seat: ReturnType<typeof start>['seat'], key: string | undefined, body: unknown) =>
    call(seat, fronts.v2({ body, ...(key !== undefined && { key }) }));

  test('ietf is the default: key required, 422, Idempotency-Replayed', async () => {
    for (const options of [{}, { preset: 'ietf' }] as Options[]) {
      const { seat } = start(options);
      expect((await send(seat, undefined, 1)).statusCode).toBe(400);
      await send(seat, 'k', 1);
      expect((await send(seat, 'k', 1)).headers).toEqual({ 'Idempotency-Replayed': 'true' });
      expect((await send(seat, 'k', 2)).statusCode).toBe(422);
    }
  });

  test('stripe: key optional, 400, Idempotent-Replayed', async () => {
    const { seat } = start({ preset: 'stripe' });
    expect((await send(seat, undefined, 1)).statusCode).toBe(201);
    await send(seat, 'k', 1);
    expect((await send(seat, 'k', 1)).headers).toEqual({ 'Idempotent-Replayed': 'true' });
    const mismatch = await send(seat, 'k', 2);
    expect(mismatch.statusCode).toBe(400);
    expect(problemIn(mismatch)).toMatchObject({ status: 400, code: 'key-reused' });
  });

  test('an option beats its preset', async () => {
    const { seat } = start({
      preset: 'stripe',
      required: true,
      mismatchStatus: 409,
      replayedHeader: 'X-Again',
    });
    expect((await send(seat, undefined, 1)).statusCode).toBe(400);
    await send(seat, 'k', 1);
    expect((await send(seat, 'k', 1)).headers).toEqual({ 'X-Again': 'true' });
    expect((await send(seat, 'k', 2)).statusCode).toBe(409);
  });

  test.each([[422], [409], [400]] as const)(
    'mismatchStatus %d: in the status and in the body',
    async (mismatchStatus) => {
      const { seat } = start({ mismatchStatus });
      await send(seat, 'k', 1);
      const answer = await send(seat, 'k', 2);
      expect(answer.statusCode).toBe(mismatchStatus);
      expect(problemIn(answer)).toMatchObject({ status: mismatchStatus, code: 'key-reused' });
    },
  );
});

describe('other HTTP options', () => {
  test('docsUrl becomes the type of every problem and a Link', async () => {
    const { seat } = start({ docsUrl: 'https://docs.example/idempotency' });
    const answer = await call(seat, fronts.albMulti({ body: 1 }));
    expect(answer.multiValueHeaders?.Link).toEqual(['<https://docs.example/idempotency>; rel="describedby"']);
    expect(problemIn(answer).type).toBe('https://docs.example/idempotency#key-missing');
  });

  test('a header of one’s own is read in any case, and named in the refusal', async () => {
    const { seat, run } = start({ header: 'X-Request-Key' });
    for (const name of ['X-Request-Key', 'x-request-key', 'X-REQUEST-KEY']) {
      for (const front of [fronts.v1, fronts.v2, fronts.alb, fronts.albMulti]) {
        expect((await call(seat, front({ headers: { [name]: 'k' }, body: 1 }))).statusCode).toBe(201);
      }
    }
    expect(run).toHaveBeenCalledTimes(1);
    const missing = await call(seat, fronts.v2({ key: 'ignored', body: 1 }));
    expect(problemIn(missing).detail).toContain('X-Request-Key');
  });

  test('a key function replaces the header, and is not limited to 255 characters', async () => {
    const { seat, run } = start({
      key: (event) => `${JSON.parse(String(event.body)).id}${'x'.repeat(3000)}`,
    });
    for (const key of ['a', 'b']) await call(seat, fronts.v2({ key, body: { id: 1 } }));
    await call(seat, fronts.v2({ body: { id: 2 } }));
    expect(run).toHaveBeenCalledTimes(2);
  });
});
