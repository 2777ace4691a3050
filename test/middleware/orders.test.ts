import { describe, expect, test, vi } from 'vitest';
import { idempotency, idempotentHttp } from '../../src/index.ts';
import { fronts } from '../support/http.ts';
import { type Answer, type Chain, call, type Handler, type Kit, kits, problemIn } from './support/middy.ts';
import { gate, world } from './support/world.ts';

type Order = (kit: Kit, run: Handler, options: Parameters<typeof idempotency>[0]) => Chain;

/** The orders that README documents. Middy's own rule stands in each: CORS before the error handler. */
const orders: [string, Order][] = [
  [
    'a guard, idempotency, cors, error handler, serializer',
    (kit, run, options) =>
      kit
        .middy()
        .use({ before: () => undefined })
        .use(idempotency(options))
        .use(kit.cors())
        .use(kit.errorHandler())
        .use(kit.serializer())
        .handler(run),
  ],
  [
    'the handler’s seat under cors, error handler, serializer',
    (kit, run, options) =>
      kit
        .middy(idempotentHttp(run, options as never) as Handler)
        .use(kit.cors())
        .use(kit.errorHandler())
        .use(kit.serializer()),
  ],
];

const post = (key: string | undefined, body: unknown = { amount: 1 }) =>
  fronts.v2({ body, headers: { origin: 'https://shop.example' }, ...(key !== undefined && { key }) });

describe.each(kits)('documented orders, Middy $version', (kit) => {
  describe.each(orders)('%s', (_name, order) => {
    const start = (run: Handler) => {
      const { store, breakWrites } = world();
      const chain = order(kit, run, { store, operation: 'place', scope: 'none' });
      return { breakWrites, send: (key?: string, body?: unknown) => call(chain, post(key, body)) };
    };

    function expectRefusal(answer: Answer, status: number, code: string): void {
      expect(answer.statusCode).toBe(status);
      expect(problemIn(answer)).toMatchObject({ status, code, type: `urn:lambda-once:${code}` });
      expect(problemIn(answer)).toMatchObject({ title: expect.any(String), detail: expect.any(String) });
      expect(answer.headers).toMatchObject({
        'Content-Type': 'application/problem+json',
        'Access-Control-Allow-Origin': 'https://shop.example',
        'Access-Control-Expose-Headers': 'Idempotency-Replayed',
      });
    }

    test('H15 M05 M06: the replay is the first answer on the wire, marked', async () => {
      const run = vi.fn(() => ({ statusCode: 201, headers: { Location: '/orders/1' }, body: { id: 1 } }));
      const { send } = start(run);
      const first = await send('k');
      expect(first).toMatchObject({ statusCode: 201, body: '{"id":1}' });
      expect(first.headers).toMatchObject({
        'Content-Type': 'application/json',
        'Access-Control-Allow-Origin': 'https://shop.example',
        Location: '/orders/1',
      });
      const replay = await send('k');
      expect(replay).toEqual({ ...first, headers: { ...first.headers, 'Idempotency-Replayed': 'true' } });
      expect(run).toHaveBeenCalledTimes(1);
    });

    test('H15: 400, 409, 422 and 503 carry status, Retry-After, problem+json and CORS', async () => {
      const [started, finish] = [gate(), gate()];
      const { send, breakWrites } = start(async () => {
        started.open();
        await finish.opened;
        return { statusCode: 201, body: {} };
      });
      const first = send('k');
      await started.opened;
      const busy = await send('k');
      expectRefusal(busy, 409, 'busy');
      expect(Number(busy.headers?.['Retry-After'])).toBeGreaterThanOrEqual(1);
      expectRefusal(await send('k', { amount: 2 }), 422, 'key-reused');
      finish.open();
      await first;
      expectRefusal(await send('k', { amount: 2 }), 422, 'key-reused');
      expectRefusal(await send(undefined), 400, 'key-missing');
      expectRefusal(await send('"open'), 400, 'key-invalid');
      breakWrites('claim');
      const down = await send('another');
      expectRefusal(down, 503, 'store');
      expect(down.headers).toMatchObject({ 'Retry-After': '2' });
    });

    test('L11: a deliberate refusal that was thrown replays as the error handler answered it', async () => {
      const run = vi.fn(() => {
        throw Object.assign(new Error('no funds'), { statusCode: 402, code: 'E_FUNDS' });
      });
      const { send } = start(run);
      const [first, second] = [await send('k'), await send('k')];
      expect(first).toMatchObject({ statusCode: 402, body: 'no funds' });
      expect(first.headers).toMatchObject({ 'Access-Control-Allow-Origin': 'https://shop.example' });
      expect(second).toMatchObject({ statusCode: 402, body: 'no funds' });
      expect(second.headers).toEqual({ ...first.headers, 'Idempotency-Replayed': 'true' });
      expect(run).toHaveBeenCalledTimes(1);
    });

    test('L11: a clean failure answers 500 with CORS and frees the key', async () => {
      let runs = 0;
      const { send } = start(() => {
        runs += 1;
        if (runs === 1) throw new Error('database away');
        return { statusCode: 201, body: { runs } };
      });
      const failed = await send('k');
      expect(failed.statusCode).toBe(500);
      expect(failed.headers).toMatchObject({ 'Access-Control-Allow-Origin': 'https://shop.example' });
      expect(await send('k')).toMatchObject({ statusCode: 201, body: '{"runs":2}' });
    });
  });
});
