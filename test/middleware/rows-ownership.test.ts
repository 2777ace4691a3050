import { describe, expect, test, vi } from 'vitest';
import { idempotency } from '../../src/index.ts';
import { fronts } from '../support/http.ts';
import { call, type Hooks, kits, problemIn } from './support/middy.ts';
import { gate, world } from './support/world.ts';

const post = (key: string, body: unknown) => fronts.v2({ key, body });

describe.each(kits)('who may touch a row, Middy $version', ({ middy, errorHandler, cors }) => {
  test.each([
    ['alone', false],
    ['with the error handler and CORS below', true],
  ])(
    'M01: refused duplicates and mismatches leave every byte of the row as it was, %s',
    async (_name, shaped) => {
      const { store, rows } = world();
      const [started, finish] = [gate(), gate()];
      const run = vi.fn(async () => {
        started.open();
        await finish.opened;
        return { statusCode: 201, body: 'A' };
      });
      const chain = middy().use(idempotency({ store, operation: 'place', scope: 'none' }));
      if (shaped) chain.use(cors()).use(errorHandler());
      chain.handler(run);

      const first = call(chain, post('k', 1));
      await started.opened;
      const running = rows();
      for (const name of ['B', 'C']) {
        const duplicate = await call(chain, post('k', 1));
        expect(duplicate.statusCode, name).toBe(409);
        expect(problemIn(duplicate).code).toBe('busy');
        expect(rows()).toBe(running);
      }
      expect((await call(chain, post('k', 2))).statusCode, 'mismatch beats busy').toBe(422);
      expect(rows()).toBe(running);
      finish.open();
      expect(await first).toMatchObject({ statusCode: 201, body: 'A' });

      const completed = rows();
      expect(completed).not.toBe(running);
      const other = await call(chain, post('k', 2));
      expect(other.statusCode, 'D').toBe(422);
      expect(problemIn(other).code).toBe('key-reused');
      expect(rows()).toBe(completed);
      expect(await call(chain, post('k', 1)), 'E').toMatchObject({ statusCode: 201, body: 'A' });
      expect(rows()).toBe(completed);
      expect(run).toHaveBeenCalledTimes(1);
    },
  );

  test.each([
    ['a key', 'k'],
    ['no key', undefined],
  ])(
    'M02: a guard above that throws keeps its error, with %s, and costs no store call',
    async (_name, key) => {
      const { store, calls, told, observe } = world();
      const denied = Object.assign(new Error('who are you?'), { statusCode: 401 });
      const guard: Hooks = {
        before: () => {
          throw denied;
        },
      };
      const ours = () => idempotency({ store, operation: `op-${Math.random()}`, scope: 'none', observe });
      const event = () => fronts.v2({ body: 1, ...(key !== undefined && { key }) });
      const bare = middy().use(guard).use(ours());
      await expect(bare(event(), {})).rejects.toBe(denied);
      const shaped = middy().use(guard).use(ours()).use(errorHandler());
      expect(await call(shaped, event())).toMatchObject({ statusCode: 401, body: 'who are you?' });
      const outside = middy().use(errorHandler()).use(guard).use(ours());
      expect(await call(outside, event())).toMatchObject({ statusCode: 401, body: 'who are you?' });
      expect(calls).toEqual([]);
      expect(told()).toEqual([]);
    },
  );

  test('M18: with authorisation inside, a principal in the scope keeps the answer from everybody else', async () => {
    const { store } = world();
    const run = vi.fn(() => ({ statusCode: 201, body: "A's order" }));
    const userOf = (event: { headers?: unknown }): string =>
      (event.headers as Record<string, string>)['x-user'] as string;
    const authorize: Hooks = {
      before: ({ event }) => {
        if (userOf(event) !== 'A') throw Object.assign(new Error('not you'), { statusCode: 403 });
      },
    };
    const chain = middy()
      .use(idempotency({ store, operation: 'place', scope: (event) => userOf(event) }))
      .use(authorize)
      .use(errorHandler())
      .handler(run);
    const by = (user?: string) =>
      call(chain, fronts.v2({ key: 'k', body: 1, headers: user === undefined ? {} : { 'x-user': user } }));
    expect(await by('A')).toMatchObject({ statusCode: 201 });
    expect(await by('B')).toMatchObject({ statusCode: 403, body: 'not you' });
    expect(await by('B'), 'still refused, not replayed').toMatchObject({ statusCode: 403 });
    const anonymous = await by();
    expect(anonymous.statusCode, 'no principal: an error, not a shared bucket').toBe(400);
    expect(problemIn(anonymous).code).toBe('input-invalid');
    expect(await by('A')).toMatchObject({ statusCode: 201, body: "A's order" });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('M18: with authorisation outside it is asked on replays as well', async () => {
    const { store } = world();
    const asked = vi.fn();
    const chain = middy()
      .use({ before: asked } satisfies Hooks)
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .handler(() => ({ statusCode: 201, body: '' }));
    for (let time = 0; time < 3; time += 1) await call(chain, post('k', 1));
    expect(asked).toHaveBeenCalledTimes(3);
  });
});
