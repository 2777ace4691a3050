import { describe, expect, test, vi } from 'vitest';
import { type Claim, dynamoStore, IdempotencyError, idempotent, type OnceEvent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';
import { freshTable } from '../support/table.ts';

interface Order {
  readonly id: string;
  readonly total?: number;
}

const key = (order: Order): string => order.id;

describe('a function runs once per key', () => {
  const results: [string, unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['false', false],
    ['zero', 0],
    ['an empty string', ''],
    ['an empty list', []],
    ['an empty object', {}],
    ['a date inside', { at: new Date(0), list: [undefined, -0] }],
  ];
  test.each(results)('M04: the result %s is replayed exactly, on the real engine', async (_name, result) => {
    const run = vi.fn(async () => result);
    const once = idempotent(run, { store: (await freshTable()).store(), operation: 'answer', key });
    expect(await once({ id: '1' })).toEqual(result);
    expect(await once({ id: '1' })).toEqual(result);
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('P05: fifty calls with one key in one process run once; the others are refused or get the answer', async () => {
    const run = vi.fn(async () => 'done');
    const once = idempotent(run, { store: (await freshTable()).store(), operation: 'answer', key });
    const calls = await Promise.allSettled(Array.from({ length: 50 }, () => once({ id: '1' })));
    expect(run).toHaveBeenCalledTimes(1);
    for (const call of calls) {
      if (call.status === 'fulfilled') expect(call.value).toBe('done');
      else expect(call.reason).toMatchObject({ code: 'busy', status: 409 });
    }
  });

  test('P01: two functions under two names with one input both run; one name twice warns', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const store = memoryStore();
    const charge = idempotent(async () => 'charged', { store, operation: 'charge', key });
    const mail = idempotent(async () => 'mailed', { store, operation: 'mail', key });
    expect([await charge({ id: '1' }), await mail({ id: '1' })]).toEqual(['charged', 'mailed']);
    expect(warned).not.toHaveBeenCalled();
    idempotent(async () => 'again', { store, operation: 'mail', key });
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('"mail" is defined twice'));
    warned.mockRestore();
  });

  test('P02: one store, two operations, their settings do not leak over ten alternating calls', async () => {
    const store = memoryStore();
    const [charge, mail] = [vi.fn(async () => 'charged'), vi.fn(async () => 'mailed')];
    const charging = idempotent(charge, { store, operation: 'charge', key, retention: { days: 7 } });
    const mailing = idempotent(mail, { store, operation: 'mail', key, retention: { hours: 1 } });
    for (let call = 0; call < 5; call += 1) await Promise.all([charging({ id: '1' }), mailing({ id: '1' })]);
    expect([charge.mock.calls.length, mail.mock.calls.length]).toEqual([1, 1]);
    const [charged, mailed] = await Promise.all(
      ['charge', 'mail'].map((operation) => store.lookup({ operation, scope: 'none', key: '1' })),
    );
    const days = ((charged?.expiresAt.getTime() ?? 0) - (mailed?.expiresAt.getTime() ?? 0)) / 86_400_000;
    expect(days).toBeCloseTo(7 - 1 / 24, 3);
  });

  test('P03: neither the version nor the name of the function is part of the identity', async () => {
    const store = memoryStore();
    const run = vi.fn(async () => 'done');
    const deploy = (name: string, version: string) => {
      vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', name);
      vi.stubEnv('AWS_LAMBDA_FUNCTION_VERSION', version);
      return idempotent(run, { store, operation: 'answer', key });
    };
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await deploy('blue', '1')({ id: '1' });
    await deploy('green', '2')({ id: '1' });
    vi.unstubAllEnvs();
    warned.mockRestore();
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('P10: `this`, the input and the claim reach the function; a synchronous one is awaited', async () => {
    const seen: unknown[] = [];
    const service = {
      rate: 2,
      double: idempotent(
        function double(this: { rate: number }, order: Order, claim: Claim) {
          seen.push(claim.operation, claim.scope, claim.key, claim.attempt, claim.held, claim.fence > 0);
          return (order.total ?? 0) * this.rate;
        },
        { store: memoryStore(), operation: 'double', key },
      ),
    };
    expect(await service.double({ id: '1', total: 21 })).toBe(42);
    expect(seen).toEqual(['double', 'none', '1', 1, true, true]);
  });
});

describe('errors of a function', () => {
  test('a deliberate 4xx is recorded and thrown again: same name, message, status and code, no stack', async () => {
    const run = vi.fn(async () => {
      throw Object.assign(new RangeError('insufficient funds'), { statusCode: 402, code: 'E_FUNDS' });
    });
    const once = idempotent(run, { store: memoryStore(), operation: 'pay', key });
    const first = await once({ id: '1' }).catch((error: unknown) => error);
    const again = (await once({ id: '1' }).catch((error: unknown) => error)) as Error;
    expect(first).toBeInstanceOf(RangeError);
    expect(again).toMatchObject({
      name: 'RangeError',
      message: 'insufficient funds',
      status: 402,
      code: 'E_FUNDS',
    });
    expect(again.stack).not.toContain('idempotent.test');
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('L11: any other error releases, so the next call runs; its key stays bound to its payload', async () => {
    const run = vi.fn().mockRejectedValueOnce(new Error('connection reset')).mockResolvedValue('done');
    const once = idempotent(run, { store: memoryStore(), operation: 'pay', key });
    await expect(once({ id: '1', total: 5 })).rejects.toThrow('connection reset');
    await expect(once({ id: '1', total: 6 })).rejects.toMatchObject({ code: 'key-reused', status: 422 });
    expect(await once({ id: '1', total: 5 })).toBe('done');
  });

  test.each(['TimeoutError', 'AbortError'])('a %s is an absence of information: it holds', async (name) => {
    const run = vi.fn(async () => {
      throw new DOMException('time is up', name);
    });
    const once = idempotent(run, { store: memoryStore(), operation: 'pay', key });
    await expect(once({ id: '1' })).rejects.toMatchObject({ name });
    await expect(once({ id: '1' })).rejects.toMatchObject({ code: 'busy' });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['release', undefined, 2],
    ['hold', 'busy', 1],
    ['record', 'E_BANK', 1],
  ] as const)('L11: onFailure %s, also per error', async (verdict, code, runs) => {
    for (const onFailure of [verdict, () => verdict]) {
      const run = vi.fn().mockRejectedValueOnce(Object.assign(new Error('no'), { code: 'E_BANK' }));
      const once = idempotent(run, { store: memoryStore(), operation: 'pay', key, onFailure });
      await expect(once({ id: '1' })).rejects.toThrow('no');
      const again = await once({ id: '1' }).catch((error: { code?: string }) => error.code);
      expect(again).toBe(code);
      expect(run).toHaveBeenCalledTimes(runs);
    }
  });

  test('an operation called inside itself with the same key is told so, and does not wait for itself', async () => {
    const once = idempotent(
      async (order: Order): Promise<string> => (order.total === 1 ? 'inner' : once({ ...order, total: 1 })),
      { store: memoryStore(), operation: 'nest', key, fingerprint: false, wait: { seconds: 30 } },
    );
    await expect(once({ id: '1' })).rejects.toMatchObject({ code: 'reentrant' });
    expect(await once({ id: '2', total: 1 })).toBe('inner');
  });
});

describe('keys, scopes and inputs of a function', () => {
  const cases: [string, unknown, string][] = [
    ['undefined', undefined, 'key-missing'],
    ['null', null, 'key-missing'],
    ['an empty string', '', 'key-missing'],
    ['a blank string', ' \t', 'key-missing'],
    ['zero', 0, 'key-invalid'],
    ['false', false, 'key-invalid'],
    ['an object', { a: null }, 'key-invalid'],
    ['a lone surrogate', '\ud800', 'key-invalid'],
  ];
  test.each(cases)('H05: the key %s is refused before any store call', async (_name, given, code) => {
    const store = memoryStore();
    const written = vi.spyOn(store, 'write');
    const run = vi.fn();
    const once = idempotent(run, { store, operation: 'answer', key: () => given as string });
    await expect(once({ id: '1' })).rejects.toMatchObject({ code, status: 400 });
    expect([run.mock.calls.length, written.mock.calls.length]).toEqual([0, 0]);
  });

  test('H05: an asynchronous key works, and what a key function throws is thrown on', async () => {
    const store = memoryStore();
    const once = idempotent(async () => 'done', {
      store,
      operation: 'answer',
      key: async (order: Order) => order.id,
    });
    expect(await once({ id: '1' })).toBe('done');
    const broken = idempotent(async () => 'done', {
      store,
      operation: 'broken',
      key: () => {
        throw new TypeError('no id');
      },
    });
    await expect(broken(undefined)).rejects.toThrow(new TypeError('no id'));
  });

  test('H09: a scope function that yields nothing is an error and not a shared bucket', async () => {
    const run = vi.fn();
    const once = idempotent(run, { store: memoryStore(), operation: 'answer', key, scope: () => '' });
    await expect(once({ id: '1' })).rejects.toMatchObject({ code: 'input-invalid' });
    expect(run).not.toHaveBeenCalled();
  });

  test('F05: an input that cannot be digested names its path and is refused before anything is claimed', async () => {
    const records = new Map();
    const once = idempotent(async (_order: Order & { extra: unknown }) => 'done', {
      store: memoryStore({ records }),
      operation: 'answer',
      key,
    });
    await expect(once({ id: '1', extra: { when: [new Map([['a', 'secret']])] } })).rejects.toThrow(
      /^input\.extra\.when\[0\] is an instance of Map/,
    );
    expect(records.size).toBe(0);
  });

  test('the fingerprint option chooses what must be the same, and false switches it off', async () => {
    const store = memoryStore();
    const byTotal = idempotent(async (order: Order) => order.total, {
      store,
      operation: 'chosen',
      key: () => 'k',
      fingerprint: ({ total }) => total,
    });
    expect([await byTotal({ id: '1', total: 1 }), await byTotal({ id: '2', total: 1 })]).toEqual([1, 1]);
    await expect(byTotal({ id: '1', total: 2 })).rejects.toMatchObject({ code: 'key-reused' });
    const never = idempotent(async (order: Order) => order.total, {
      store,
      operation: 'off',
      key: () => 'k',
      fingerprint: false,
    });
    expect([await never({ id: '1', total: 1 }), await never({ id: '1', total: 2 })]).toEqual([1, 1]);
  });
});

describe('what comes after the effect', () => {
  test('S14 S16: a result that cannot be stored reaches the first caller untouched; a duplicate is told, not run', async () => {
    for (const result of [new Map([[1, 2]]), { big: 'é'.repeat(250_000) }, Number.NaN, 10n, () => 1]) {
      const events: OnceEvent[] = [];
      const run = vi.fn(async () => result);
      const once = idempotent(run, {
        store: (await freshTable()).store(),
        operation: 'answer',
        key,
        observe: (event) => events.push(event),
      });
      expect(await once({ id: '1' })).toBe(result);
      await expect(once({ id: '1' })).rejects.toMatchObject({ code: 'outcome-not-kept', status: 410 });
      expect(run).toHaveBeenCalledTimes(1);
      expect(events.map(({ type }) => type)).toEqual(['claimed', 'not-kept', 'refused']);
    }
  });

  test('P09: switched off by LAMBDA_ONCE_DISABLED there is no client, no call, and errors pass untouched', async () => {
    vi.stubEnv('LAMBDA_ONCE_DISABLED', 'true');
    const client = { send: vi.fn() };
    const run = vi.fn(async (order: Order, claim: Claim) => {
      if (order.id === 'bad') throw new Error('mine');
      return claim.held;
    });
    const once = idempotent(run, { store: dynamoStore({ client }), operation: 'answer', key });
    expect([await once({ id: '1' }), await once({ id: '1' })]).toEqual([false, false]);
    await expect(once({ id: 'bad' })).rejects.toThrow('mine');
    vi.unstubAllEnvs();
    expect(client.send).not.toHaveBeenCalled();
  });

  test('errors carry the record id and neither key nor payload', async () => {
    const store = memoryStore();
    const once = idempotent(async () => 'done', { store, operation: 'answer', key });
    await once({ id: 'ada@example.org', total: 1 });
    const error = (await once({ id: 'ada@example.org', total: 4711 }).catch(
      (e: unknown) => e,
    )) as IdempotencyError;
    expect(error).toBeInstanceOf(IdempotencyError);
    expect(error.id).toMatch(/^answer#[\w-]{43}$/);
    expect(JSON.stringify(error) + error.message + error.stack).not.toMatch(/ada@example|4711/);
  });
});

describe('what runs beside us', () => {
  test('an observer that rejects later does not end the process, nor change the answer', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const once = idempotent(async () => 'done', {
      store: memoryStore(),
      operation: 'answer',
      key,
      // TypeScript takes it for a function that returns nothing
      observe: (() => Promise.reject(new Error('down'))) as () => void,
    });
    expect(await once({ id: '1' })).toBe('done');
    await new Promise((resolve) => setImmediate(resolve));
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('"observe" failed'));
    warned.mockRestore();
  });

  test('what a handler leaves behind may call again after it: a replay, not `reentrant`', async () => {
    let later: Promise<string> | undefined;
    const once = idempotent(
      async (order: Order): Promise<string> => {
        later = new Promise((resolve) => {
          setTimeout(() => resolve(once(order)), 20);
        });
        return 'done';
      },
      { store: memoryStore(), operation: 'answer', key },
    );
    await once({ id: '1' });
    expect(await later).toBe('done');
  });

  test.each([
    ['axios', Object.assign(new Error('timeout of 5000ms exceeded'), { code: 'ECONNABORTED' })],
    [
      'undici',
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('x'), { name: 'HeadersTimeoutError' }),
      }),
    ],
    ['undici by code', new TypeError('fetch failed', { cause: { code: 'UND_ERR_BODY_TIMEOUT' } })],
    ['a socket', Object.assign(new Error('connect'), { code: 'ETIMEDOUT' })],
    ['a wrapped one', new Error('charge failed', { cause: new DOMException('late', 'TimeoutError') })],
  ])('S0: running out of time holds, as %s spells it', async (_who, error) => {
    const run = vi.fn(async () => Promise.reject(error));
    const once = idempotent(run, { store: memoryStore(), operation: 'pay', key });
    await expect(once({ id: '1' })).rejects.toBe(error);
    await expect(once({ id: '1' })).rejects.toMatchObject({ code: 'busy' });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('what another operation refuses inside is no answer of this one: the next call runs', async () => {
    const store = memoryStore();
    const inner = idempotent(async (order: Order) => order.total, { store, operation: 'inner', key });
    await inner({ id: '1', total: 1 });
    const run = vi.fn(async (_order: Order) => inner({ id: '1', total: 2 }));
    const outer = idempotent(run, { store, operation: 'outer', key });
    await expect(outer({ id: '1' })).rejects.toMatchObject({ code: 'key-reused' });
    await expect(outer({ id: '1' })).rejects.toMatchObject({ code: 'key-reused' });
    expect(run).toHaveBeenCalledTimes(2);
  });
});

describe('what a result or an error may do to us', () => {
  test('a result that cannot even be read completes as not kept, and reaches the first caller', async () => {
    const hostile = {
      get total(): number {
        throw new Error('not yours');
      },
    };
    const run = vi.fn(async () => hostile);
    const once = idempotent(run, { store: memoryStore(), operation: 'answer', key });
    expect(await once({ id: '1' })).toBe(hostile);
    await expect(once({ id: '1' })).rejects.toMatchObject({ code: 'outcome-not-kept' });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('a rejection keeps whether its message may be shown', async () => {
    const once = idempotent(
      async () => {
        throw Object.assign(new Error('account 12 is frozen'), { statusCode: 404, expose: false });
      },
      { store: memoryStore(), operation: 'pay', key },
    );
    await once({ id: '1' }).catch(() => undefined);
    await expect(once({ id: '1' })).rejects.toMatchObject({ statusCode: 404, expose: false });
  });

  test('a verdict function that throws after the effect holds the claim instead of freeing it', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const records = new Map();
    const once = idempotent(async () => 'done', {
      store: memoryStore({ records }),
      operation: 'answer',
      key,
      classify: () => {
        throw new Error('bug');
      },
    });
    expect(await once({ id: '1' })).toBe('done');
    expect([...records.values()]).toMatchObject([{ state: 'claimed' }]);
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('the claim is held'));
    warned.mockRestore();
  });
});
