import { describe, expect, test, vi } from 'vitest';
import { idempotency } from '../../src/index.ts';
import { fronts } from '../support/http.ts';
import { call, type Handler, kits, problemIn } from './support/middy.ts';
import { world } from './support/world.ts';

const event = () => fronts.v2({ key: 'k', body: { amount: 1 } });

describe.each(kits)('what others do to the event, Middy $version', (kit) => {
  const mutations: [string, Handler][] = [
    [
      'marks the parsed body',
      ({ body }) => {
        (body as { processed?: boolean }).processed = true;
      },
    ],
    ['deletes the headers', (given) => Reflect.deleteProperty(given, 'headers')],
    [
      'empties the event',
      (given) => {
        for (const name of Object.keys(given)) Reflect.deleteProperty(given, name);
      },
    ],
  ];
  test.each(mutations)(
    'M13: a parser below and a handler that %s: one row, completed',
    async (_name, mutate) => {
      const { store, records } = world();
      const run = vi.fn<Handler>((given, context) => {
        mutate(given, context);
        return { statusCode: 201, body: 'done' };
      });
      const chain = kit
        .middy()
        .use(idempotency({ store, operation: 'place', scope: 'none' }))
        .use(kit.jsonBodyParser())
        .handler(run);
      expect(await call(chain, event())).toMatchObject({ statusCode: 201 });
      expect(records()).toMatchObject([{ state: 'completed' }]);
      expect(await call(chain, event())).toMatchObject({ statusCode: 201, body: 'done' });
      expect(records()).toHaveLength(1);
      expect(run).toHaveBeenCalledTimes(1);
    },
  );

  test('M15: malformed JSON gets the parser’s error as often as it comes, and does not block the key', async () => {
    const { store, records } = world();
    const run = vi.fn(() => ({ statusCode: 201, body: 'done' }));
    const chain = kit
      .middy()
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .use(kit.jsonBodyParser())
      .use(kit.errorHandler())
      .handler(run);
    const send = (body: string) => call(chain, fronts.v2({ key: 'k', body }));
    const status = kit.version === 6 ? 415 : 422;
    for (const time of ['first', 'second']) {
      const refused = await send('{bad');
      expect(refused, time).toMatchObject({
        statusCode: status,
        body: expect.stringContaining('malformed JSON'),
      });
      expect(String(refused.body), 'told apart from our own 422').not.toContain('key-reused');
      expect(records()).toMatchObject([{ state: 'released' }]);
    }
    expect(run).not.toHaveBeenCalled();
    expect(await send('{"good":1}')).toMatchObject({ statusCode: 201, body: 'done' });
    expect(run).toHaveBeenCalledTimes(1);
    const mismatch = await send('{"other":1}');
    expect(mismatch.statusCode).toBe(422);
    expect(problemIn(mismatch)).toMatchObject({ code: 'key-reused', type: 'urn:lambda-once:key-reused' });
  });
});
