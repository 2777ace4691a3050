import { describe, expect, test } from 'vitest';
import { type FunctionOptions, IdempotencyError, idempotent, type Store } from '../../src/index.ts';
import { type StatusOptions, statusHandler } from '../../src/status.ts';
import { memoryStore } from '../../src/testing.ts';
import { Clock } from '../support/clock.ts';
import { fronts } from '../support/http.ts';

const start = 1_900_000_000_000;
const at = (milliseconds: number): string => new Date(milliseconds).toISOString();
type Event = ReturnType<typeof fronts.v2> & { tenant?: string };

/** Operations of the tenant `acme`, and whoever asks about them. */
function world(options: Partial<StatusOptions<Event>> = {}) {
  const clock = new Clock(start);
  const store = memoryStore({ now: clock.now });
  const work = (
    run: (claim: { commit: (value: unknown, writes: [], options?: object) => unknown }) => unknown,
    more: Partial<FunctionOptions<{ id: string }, unknown>> = {},
  ) =>
    idempotent(async (_input: { id: string }, claim) => run(claim as never), {
      store,
      operation: 'pay',
      scope: () => 'acme',
      key: ({ id }) => id,
      lease: { seconds: 10 },
      retention: { hours: 1 },
      ...more,
    });
  const handler = statusHandler<Event>({
    store,
    operation: 'pay',
    scope: ({ tenant }) => tenant ?? 'acme',
    unique: ({ queryStringParameters }) => {
      const order = (queryStringParameters as Record<string, string> | undefined)?.order;
      return order === undefined ? undefined : [order];
    },
    ...options,
  });
  const ask = async (query: Record<string, string>, parts: Partial<Event> = {}) => {
    const rawQueryString = new URLSearchParams(query).toString();
    const event = { ...fronts.v2({ method: 'GET' }), rawQueryString, queryStringParameters: query, ...parts };
    const answer = await handler(event as Event);
    return { ...answer, told: JSON.parse(answer.body) as Record<string, unknown> };
  };
  return { clock, store, work, ask };
}

describe('statusHandler', () => {
  test('never heard of it: 404', async () => {
    const { ask } = world();
    expect(await ask({ key: 'a' })).toMatchObject({
      statusCode: 404,
      told: { operation: 'pay', status: 'unknown' },
    });
  });

  test('running, until when, and then in doubt', async () => {
    const { ask, work, clock } = world();
    void work(() => new Promise(() => {}))({ id: 'a' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ask({ key: 'a' })).toMatchObject({
      statusCode: 200,
      headers: { 'Retry-After': '1', 'Cache-Control': 'no-store' },
      told: { status: 'running', until: at(start + 10_000) },
    });
    clock.advance(13_001);
    expect((await ask({ key: 'a' })).told).toEqual({ operation: 'pay', status: 'in-doubt' });
  });

  test('completed, rejected, released, and when', async () => {
    const { ask, work, clock } = world();
    clock.advance(5);
    await work(() => 'paid')({ id: 'done' });
    await work(() => Promise.reject(Object.assign(new Error('declined'), { status: 402 })))({
      id: 'no',
    }).catch(() => {});
    await work(() => Promise.reject(new Error('passing')))({ id: 'again' }).catch(() => {});
    const statuses = await Promise.all(['done', 'no', 'again'].map(async (key) => (await ask({ key })).told));
    expect(statuses).toEqual(
      ['completed', 'rejected', 'released'].map((status) => ({
        operation: 'pay',
        status,
        at: at(start + 5),
      })),
    );
  });

  test.each([
    [{}, true, undefined],
    [{ answer: 'true' }, true, { paid: 12 }],
    [{ answer: 'true' }, false, undefined],
  ])('the answer is shown to who asks (%j) and may (%s)', async (query, allowed, answer) => {
    const { ask, work } = world({ showAnswer: () => allowed });
    await work(() => ({ paid: 12 }))({ id: 'a' });
    expect((await ask({ key: 'a', ...query })).told.answer).toEqual(answer);
  });

  test('another scope’s key is unknown, and so is its reference', async () => {
    const { ask, work } = world({ showAnswer: () => true });
    await work((claim) => claim.commit('paid', [], { unique: [['o-1']] }))({ id: 'a' });
    for (const query of [
      { key: 'a', answer: 'true' },
      { order: 'o-1', answer: 'true' },
    ]) {
      expect((await ask(query, { tenant: 'globex' })).told).toEqual({ operation: 'pay', status: 'unknown' });
    }
  });

  test('by business reference, also when the retention is over', async () => {
    const { ask, work, clock } = world();
    const options = { unique: [['o-1']], reference: 'payment-7' };
    await work((claim) => claim.commit({ statusCode: 201 }, [], options))({ id: 'a' });
    const completed = {
      operation: 'pay',
      status: 'completed',
      at: at(start),
      reference: 'payment-7',
      originalStatus: 201,
    };
    expect((await ask({ order: 'o-1' })).told).toEqual(completed);
    expect((await ask({ key: 'a', order: 'o-1' })).told).toEqual(completed);
    clock.advance(2 * 3_600_000);
    expect((await ask({ key: 'a' })).statusCode).toBe(404);
    expect((await ask({ key: 'a', order: 'o-1' })).told).toEqual(completed);
  });

  test('a reference of another operation says nothing about this one', async () => {
    const { ask, work } = world();
    const other = work((claim) => claim.commit('x', [], { unique: [['o-1']] } as never), {
      operation: 'refund',
    });
    await other({ id: 'a' });
    expect((await ask({ order: 'o-1' })).statusCode).toBe(404);
  });

  test('the key in the header comes first; no key, a malformed one, and no scope are refused', async () => {
    const { ask, work } = world();
    await work(() => 1)({ id: 'a' });
    expect(await ask({ key: 'other' }, { headers: { 'idempotency-key': '"a"' } } as never)).toMatchObject({
      statusCode: 200,
    });
    expect(await ask({})).toMatchObject({ statusCode: 400, told: { code: 'key-missing' } });
    expect(await ask({ key: 'x'.repeat(256) })).toMatchObject({
      statusCode: 400,
      told: { code: 'key-invalid' },
    });
    expect(await ask({ key: 'a' }, { tenant: ' ' })).toMatchObject({
      statusCode: 400,
      told: { code: 'input-invalid' },
    });
  });

  test('a store that cannot be read is a 503', async () => {
    const { store } = world();
    const read: Store['read'] = () =>
      Promise.reject(new IdempotencyError('store', 'down', { retryAfter: 2 }));
    const broken = statusHandler({
      store: {
        ...store,
        read,
        lookup: () => Promise.reject(new IdempotencyError('store', 'down', { retryAfter: 2 })),
      },
      operation: 'pay',
      scope: 'none',
    });
    const answer = await broken({ ...fronts.v2({ method: 'GET', key: 'a' }) });
    expect(answer).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '2' } });
  });

  test('options are checked', () => {
    const store = memoryStore();
    expect(() => statusHandler({ store, operation: 'pay' } as never)).toThrow(/option "scope" is required/);
    expect(() => statusHandler({ store, operation: 'pay', scope: 'none', answers: true } as never)).toThrow(
      /unknown option "answers"/,
    );
  });
});
