import { afterEach, describe, expect, test, vi } from 'vitest';
import { dynamoStore, type HttpOptions, idempotentHttp, type OnceEvent } from '../../src/index.ts';
import { call } from '../middleware/support/middy.ts';
import { gate, world } from '../middleware/support/world.ts';
import { contextWith, fronts } from '../support/http.ts';

type Options = Partial<HttpOptions<unknown, unknown, unknown>>;
const event = (body: unknown = 1, key = 'k') => fronts.v2({ key, body });

function start(work: () => unknown = () => ({ statusCode: 201 }), options: Options = {}) {
  const all = world();
  const { store, observe } = all;
  const seat = idempotentHttp(async () => work(), { store, operation: 'place', scope: 'none', observe, ...options });
  return { ...all, seat, send: (body?: unknown) => call(seat, event(body)).catch(() => undefined) };
}

afterEach(() => void vi.unstubAllEnvs());

describe('every decision is told, in order', () => {
  const id = expect.stringMatching(/^place#[\w-]{43}$/);
  const subject = { operation: 'place', id };
  const told = (...events: object[]) => events.map((told) => ({ ...subject, ...told }));

  test('claimed, completed, replayed, refused', async () => {
    const { send, events } = start();
    await send();
    await send();
    await send(2);
    expect(events).toEqual(
      told(
        { type: 'claimed', from: 'absent', attempt: 1 },
        { type: 'completed', outcome: 'value' },
        { type: 'replayed', outcome: 'value' },
        { type: 'refused', code: 'key-reused' },
      ),
    );
  });

  test('a rejection', async () => {
    const { send, events } = start(() => Promise.reject(Object.assign(new Error('x'), { statusCode: 404 })));
    await send();
    await send();
    expect(events.slice(1)).toEqual(
      told({ type: 'completed', outcome: 'rejection' }, { type: 'replayed', outcome: 'rejection' }),
    );
  });

  test('released and claimed again', async () => {
    const { send, events } = start(() => Promise.reject(new RangeError('secret detail')));
    await send();
    await send();
    expect(events).toEqual(
      told(
        { type: 'claimed', from: 'absent', attempt: 1 },
        { type: 'released', reason: 'RangeError' },
        { type: 'claimed', from: 'released', attempt: 2 },
        { type: 'released', reason: 'RangeError' },
      ),
    );
    expect(JSON.stringify(events)).not.toContain('secret detail');
  });

  test('held, then in doubt', async () => {
    const { send, events, skip } = start(() => ({ statusCode: 408 }));
    await send();
    skip(60_000);
    await send();
    expect(events.slice(1)).toEqual(told({ type: 'held', reason: 'result' }, { type: 'refused', code: 'in-doubt' }));
  });

  test('lapsed and run again', async () => {
    let runs = 0;
    const { send, events, skip } = start(() => ({ statusCode: (runs += 1) === 1 ? 408 : 201 }), { onLapse: 'rerun' });
    await send();
    skip(60_000);
    await send();
    expect(events.slice(2)).toEqual(
      told({ type: 'claimed', from: 'lapsed', attempt: 2 }, { type: 'completed', outcome: 'value' }),
    );
  });

  test('lapsed and asked about downstream', async () => {
    const answers = ['unknown', { found: { statusCode: 201 } }] as const;
    let asked = 0;
    const onLapse = () => answers[asked++] ?? 'unknown';
    const { send, events, skip } = start(() => ({ statusCode: 408 }), { onLapse });
    await send();
    skip(60_000);
    await send();
    await send();
    expect(events.slice(2)).toEqual(
      told(
        { type: 'reconciled', verdict: 'unknown' },
        { type: 'refused', code: 'in-doubt' },
        { type: 'reconciled', verdict: 'found' },
        { type: 'replayed', outcome: 'value' },
      ),
    );
  });

  test('not kept', async () => {
    const { send, events } = start(() => ({ statusCode: 201, body: new Map() }));
    await send();
    expect(events[1]).toEqual({ ...subject, type: 'not-kept', reason: 'unfaithful', detail: expect.any(String) });
  });

  test('a store that fails before and after', async () => {
    const { send, events, breakWrites, seat } = start();
    breakWrites('claim');
    await send();
    breakWrites('complete');
    await call(seat, event(1, 'other'), contextWith(100));
    expect(events).toMatchObject([
      { ...subject, type: 'refused', code: 'store' },
      { ...subject, type: 'claimed' },
      { ...subject, type: 'store-failed', at: 'complete', error: { code: 'store' } },
    ]);
  });

  test('a lost lease', async () => {
    const [started, finish] = [gate(), gate()];
    let runs = 0;
    const { seat, skip, told } = start(
      async () => {
        runs += 1;
        if (runs > 1) return { statusCode: 201, body: 'second' };
        started.open();
        await finish.opened;
        return { statusCode: 201, body: 'first' };
      },
      { onLapse: 'rerun' },
    );
    const first = call(seat, event());
    await started.opened;
    skip(60_000);
    await call(seat, event());
    finish.open();
    expect(await first).toMatchObject({ body: 'second', headers: { 'Idempotency-Replayed': 'true' } });
    expect(told()).toEqual(['claimed', 'claimed', 'completed', 'lease-lost', 'replayed']);
  });

  test('passed by, and why', async () => {
    const { seat, events } = start(undefined, { required: false });
    await call(seat, fronts.v2({ method: 'GET', key: 'k' }));
    await call(seat, fronts.v2({ body: 1 }));
    vi.stubEnv('LAMBDA_ONCE_DISABLED', 'true');
    await call(seat, event());
    expect(events).toEqual(
      ['method', 'no-key', 'disabled'].map((reason) => ({ type: 'bypassed', operation: 'place', reason })),
    );
  });

  test('an observer that throws changes nothing', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const seen: OnceEvent[] = [];
    const observe = (event: OnceEvent): never => {
      seen.push(event);
      throw new Error('metrics away');
    };
    const { send, records } = start(undefined, { observe });
    const [first, replay, refusal] = [await send(), await send(), await send(2)];
    expect([first, replay, refusal].map((answer) => answer?.statusCode)).toEqual([201, 201, 422]);
    expect(records()).toMatchObject([{ state: 'completed' }]);
    expect(seen).toHaveLength(4);
    expect(warned).toHaveBeenCalledTimes(4);
    warned.mockRestore();
  });
});

describe('P09: the kill switch', () => {
  test.each([['1'], ['true'], ['TRUE']])('P09: LAMBDA_ONCE_DISABLED=%s: no client, no calls, no key needed, errors untouched', async (value) => {
    vi.stubEnv('LAMBDA_ONCE_DISABLED', value);
    vi.stubEnv('LAMBDA_ONCE_TABLE', undefined);
    const own = new Error('mine');
    const run = vi.fn(() => ({ statusCode: 201 }));
    // a store that would fail on the first call: there is no table and no region
    const options = { store: dynamoStore(), operation: 'place', scope: 'none' } as const;
    const seat = idempotentHttp(run, options);
    for (const parts of [{ key: 'k' }, { key: 'k' }, {}]) {
      expect(await call(seat, fronts.v1({ body: 1, ...parts }))).toEqual({ statusCode: 201 });
    }
    expect(run).toHaveBeenCalledTimes(3);
    const failing = idempotentHttp(() => Promise.reject(own), { ...options, operation: 'fail' });
    await expect(call(failing, event())).rejects.toBe(own);
  });

  test.each([['0'], ['false'], ['']])('P09: LAMBDA_ONCE_DISABLED=%j protects', async (value) => {
    vi.stubEnv('LAMBDA_ONCE_DISABLED', value);
    const { send, told } = start();
    await send();
    expect(told()).toEqual(['claimed', 'completed']);
  });
});
