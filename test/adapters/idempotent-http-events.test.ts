import { afterEach, describe, expect, test, vi } from 'vitest';
import type { OnceEvent } from '../../src/index.ts';
import { call } from '../middleware/support/middy.ts';
import { seatOf } from '../middleware/support/seat.ts';
import { gate } from '../middleware/support/world.ts';
import { contextWith, fronts } from '../support/http.ts';

afterEach(() => void vi.unstubAllEnvs());

describe('every decision is told, in order', () => {
  const id = expect.stringMatching(/^place#[\w-]{43}$/);
  const subject = { operation: 'place', id };
  const told = (...events: object[]) => events.map((told) => ({ ...subject, ...told }));

  const swallow = (sent: Promise<unknown>) => sent.catch(() => undefined);

  test('claimed, completed, replayed, refused', async () => {
    const { send, events } = seatOf();
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
    const { send, events } = seatOf(() => Promise.reject(Object.assign(new Error('x'), { statusCode: 404 })));
    await swallow(send());
    await swallow(send());
    expect(events.slice(1)).toEqual(
      told({ type: 'completed', outcome: 'rejection' }, { type: 'replayed', outcome: 'rejection' }),
    );
  });

  test('released and claimed again', async () => {
    const { send, events } = seatOf(() => Promise.reject(new RangeError('secret detail')));
    await swallow(send());
    await swallow(send());
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
    const { send, events, skip } = seatOf(() => ({ statusCode: 408 }));
    await send();
    skip(60_000);
    await send();
    expect(events.slice(1)).toEqual(
      told({ type: 'held', reason: 'result' }, { type: 'refused', code: 'in-doubt' }),
    );
  });

  test('lapsed and run again', async () => {
    const statuses = [408, 201];
    const { send, events, skip } = seatOf(() => ({ statusCode: statuses.shift() }), {
      onLapse: 'rerun',
    });
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
    const { send, events, skip } = seatOf(() => ({ statusCode: 408 }), { onLapse });
    await send();
    skip(60_000);
    await send();
    await send();
    expect(events.slice(2)).toEqual(
      told(
        { type: 'reconciled', verdict: 'unknown' },
        { type: 'refused', code: 'in-doubt' },
        { type: 'reconciled', verdict: 'found' },
        { type: 'completed', outcome: 'value' },
        { type: 'replayed', outcome: 'value' },
      ),
    );
  });

  test('not kept', async () => {
    const { send, events } = seatOf(() => ({ statusCode: 201, body: new Map() }));
    await send();
    expect(events[1]).toEqual({
      ...subject,
      type: 'not-kept',
      reason: 'unfaithful',
      detail: expect.any(String),
    });
  });

  test('a store that fails before and after', async () => {
    const { send, events, breakWrites, seat } = seatOf();
    breakWrites('claim');
    await send();
    breakWrites('complete');
    await call(seat, fronts.v1({ key: 'other', body: 1 }), contextWith(100));
    expect(events).toMatchObject([
      { ...subject, type: 'store-failed', at: 'claim', error: { code: 'store' } },
      { ...subject, type: 'refused', code: 'store' },
      { ...subject, type: 'claimed' },
      { ...subject, type: 'store-failed', at: 'complete', error: { code: 'store' } },
    ]);
  });

  test('a lost lease', async () => {
    const [started, finish] = [gate(), gate()];
    let runs = 0;
    const { send, skip, told } = seatOf(
      async () => {
        runs += 1;
        if (runs > 1) return { statusCode: 201, body: 'second' };
        started.open();
        await finish.opened;
        return { statusCode: 201, body: 'first' };
      },
      { onLapse: 'rerun' },
    );
    const first = send();
    await started.opened;
    skip(60_000);
    await send();
    finish.open();
    expect(await first).toMatchObject({ body: 'second', headers: { 'Idempotency-Replayed': 'true' } });
    expect(told()).toEqual(['claimed', 'claimed', 'completed', 'lease-lost', 'replayed']);
  });

  test('passed by, and why', async () => {
    const { seat, send, events } = seatOf(undefined, { required: false });
    await call(seat, fronts.v2({ method: 'GET', key: 'k' }));
    await call(seat, fronts.v2({ body: 1 }));
    vi.stubEnv('LAMBDA_ONCE_DISABLED', 'true');
    await send();
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
    const { send, records } = seatOf(undefined, { observe });
    const [first, replay, refusal] = [await send(), await send(), await send(2)];
    expect([first, replay, refusal].map((answer) => answer?.statusCode)).toEqual([201, 201, 422]);
    expect(records()).toMatchObject([{ state: 'completed' }]);
    expect(seen).toHaveLength(4);
    expect(warned).toHaveBeenCalledTimes(4);
    warned.mockRestore();
  });
});
