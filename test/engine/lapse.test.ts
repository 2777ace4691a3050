import { describe, expect, test, vi } from 'vitest';
import {
  type Duration,
  idempotent,
  type LapsedClaim,
  type OnceEvent,
  type OnLapse,
} from '../../src/index.ts';
import { Clock } from '../support/clock.ts';
import { freshTable } from '../support/table.ts';

const seconds = 1000;
const lease = { seconds: 10 };
const lapsedAfter = 13 * seconds + 1;

/** A first attempt that holds its claim and is never heard of again, and a later one. */
async function crashed(onLapse: OnLapse<string>, retention: Duration = { hours: 1 }) {
  const clock = new Clock();
  const table = await freshTable();
  const events: OnceEvent[] = [];
  const run = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(new DOMException('gone', 'TimeoutError'))
    .mockResolvedValue('second');
  const once = idempotent(run, {
    store: table.store({ now: clock.now }),
    operation: 'pay',
    key: () => 'k',
    lease,
    retention,
    onLapse,
    observe: (event) => events.push(event),
  });
  await once({}).catch(() => undefined);
  return { clock, table, run, once: () => once({}), events };
}

describe("onLapse 'hold'", () => {
  test('L06 L07: busy until the lease and the skew allowance are over, then in doubt, and never run again', async () => {
    const { clock, run, once } = await crashed('hold');
    clock.advance(lapsedAfter - 1);
    await expect(once()).rejects.toMatchObject({ code: 'busy', retryAfter: 1 });
    clock.advance(1);
    await expect(once()).rejects.toMatchObject({ code: 'in-doubt', status: 409, retryAfter: 30 });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('a record in doubt outlives its retention: the next retry is not a stranger', async () => {
    const { clock, table, run, once } = await crashed('hold');
    clock.advance(lapsedAfter);
    await expect(once()).rejects.toMatchObject({ code: 'in-doubt' });
    clock.advance(3600 * seconds);
    await expect(once()).rejects.toMatchObject({ code: 'in-doubt' });
    const [record] = await table.records();
    expect(record).toMatchObject({
      state: 'in-doubt',
      expiresAt: Math.ceil((clock.now() + 3600 * seconds) / 1000),
    });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('a person resolves it: the late owner is shut out, the decision replays', async () => {
    const { clock, table, once } = await crashed('hold');
    clock.advance(lapsedAfter);
    const store = table.store({ now: clock.now });
    const decided = { operation: 'pay', scope: 'none', key: 'k', by: 'ops', why: 'seen in the ledger' };
    const lookup = await store.resolve({ ...decided, as: 'completed', value: 'by hand' });
    expect(lookup).toMatchObject({
      state: 'completed',
      resolvedBy: 'ops',
      resolvedWhy: 'seen in the ledger',
    });
    expect(await once()).toBe('by hand');
  });
});

test('a retention shorter than the lease does not turn a crash into a stranger', async () => {
  const clock = new Clock();
  const table = await freshTable();
  const run = vi.fn(async () => Promise.reject(new DOMException('gone', 'TimeoutError')));
  const once = idempotent(run, {
    store: table.store({ now: clock.now }),
    operation: 'pay',
    key: () => 'k',
    retention: { minutes: 5 },
  });
  await once({}).catch(() => undefined);
  clock.advance(15 * 60_000 + 5000 + 1);
  await expect(once({})).rejects.toMatchObject({ code: 'in-doubt' });
  expect(run).toHaveBeenCalledTimes(1);
});

describe("onLapse 'rerun'", () => {
  test('L07: the next caller takes over, one attempt further and with a larger fence', async () => {
    const { clock, table, once, events } = await crashed('rerun');
    const [before] = await table.records();
    clock.advance(lapsedAfter);
    expect(await once()).toBe('second');
    const [after] = await table.records();
    expect(after).toMatchObject({ state: 'completed', attempt: 2 });
    expect(after?.fence).toBeGreaterThan(before?.fence ?? Number.POSITIVE_INFINITY);
    expect(events.filter(({ type }) => type === 'claimed')).toMatchObject([
      { from: 'absent' },
      { from: 'lapsed', attempt: 2 },
    ]);
  });

  test('L04: of two who find it lapsed at once, one runs', async () => {
    const { clock, run, once } = await crashed('rerun');
    clock.advance(lapsedAfter);
    const calls = await Promise.allSettled(Array.from({ length: 10 }, once));
    expect(run).toHaveBeenCalledTimes(2);
    for (const call of calls) {
      if (call.status === 'rejected') expect(call.reason).toMatchObject({ code: 'busy' });
      else expect(call.value).toBe('second');
    }
  });
});

describe('onLapse reconcile', () => {
  const asked = vi.fn<(claim: LapsedClaim) => unknown>();
  const reconcile = (claim: LapsedClaim) => asked(claim) as 'absent';
  const settleAfter = { seconds: 60 };

  test('found: completes without running and replays to everybody after', async () => {
    asked.mockReset().mockReturnValue({ found: 'first' });
    const { clock, run, once } = await crashed({ reconcile, settleAfter });
    clock.advance(lapsedAfter);
    expect([await once(), await once()]).toEqual(['first', 'first']);
    expect(asked).toHaveBeenCalledTimes(1);
    expect(asked.mock.calls[0]?.[0]).toMatchObject({ operation: 'pay', scope: 'none', key: 'k', attempt: 1 });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('absent counts only when the lease ended longer ago than settleAfter; earlier it is unknown', async () => {
    asked.mockReset().mockReturnValue('absent');
    const { clock, run, once, events } = await crashed({ reconcile, settleAfter });
    clock.advance(lapsedAfter);
    await expect(once()).rejects.toMatchObject({ code: 'in-doubt' });
    clock.advance(60 * seconds - 1);
    await expect(once()).rejects.toMatchObject({ code: 'in-doubt' });
    expect(run).toHaveBeenCalledTimes(1);
    clock.advance(1);
    expect(await once()).toBe('second');
    const verdicts = events.filter((event) => event.type === 'reconciled').map(({ verdict }) => verdict);
    expect(verdicts).toEqual(['settling', 'settling', 'absent']);
  });

  test.each([
    ['unknown', () => 'unknown'],
    ['an answer that is none', () => undefined],
    ['a failure', () => Promise.reject(new Error('down'))],
    ['a found 5xx, which is no outcome', () => ({ found: { statusCode: 500 } })],
  ])('%s stays in doubt and does not run', async (_name, says) => {
    asked.mockReset().mockImplementation(says);
    const { clock, run, once } = await crashed(reconcile);
    clock.advance(lapsedAfter + 3600);
    await expect(once()).rejects.toMatchObject({ code: 'in-doubt' });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('rule 4: with a reconcile of its own an operation holds on a thrown error, unless onFailure says otherwise', async () => {
    asked.mockReset();
    for (const [onFailure, state] of [
      [undefined, 'claimed'],
      ['release', 'released'],
    ] as const) {
      const table = await freshTable();
      const once = idempotent(async () => Promise.reject(new Error('socket hang up')), {
        store: table.store(),
        operation: 'pay',
        key: () => 'k',
        onLapse: { reconcile },
        ...(onFailure !== undefined && { onFailure }),
      });
      await expect(once({})).rejects.toThrow('socket hang up');
      expect((await table.records())[0]?.state).toBe(state);
    }
  });
});

describe('own lease first', () => {
  test('a claim whose reply comes after its lease does not start: somebody else may have run', async () => {
    const clock = new Clock();
    const table = await freshTable();
    const store = table.store({ now: clock.now });
    const write = store.write.bind(store);
    const run = vi.fn(async () => 'first');
    const options = { store, operation: 'pay', key: () => 'k', lease, onLapse: 'rerun' } as const;
    const frozen = idempotent(run, {
      ...options,
      store: {
        ...store,
        write: async (transition, limits) => {
          const written = await write(transition, limits);
          if (transition.kind === 'claim') clock.advance(lapsedAfter);
          return written;
        },
      },
    });
    await expect(frozen({})).rejects.toMatchObject({ code: 'lease-lost', status: 503 });
    expect(run).not.toHaveBeenCalled();
    expect((await table.records())[0]).toMatchObject({ state: 'released' });
  });

  test('the signal of a claim without a lease left is aborted from the start', async () => {
    const once = idempotent(
      async (_input: object, claim) => {
        await new Promise((resolve) => setTimeout(resolve, 600));
        return claim.signal.aborted;
      },
      { store: (await freshTable()).store(), operation: 'pay', key: () => 'k', lease: { milliseconds: 500 } },
    );
    expect(await once({})).toBe(true);
  });
});
