import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Claim, dynamoStore, idempotent, idempotentHttp, type Makers } from '../../src/index.ts';
import { crash, effectWorld, hurried, lapsed, turns } from '../support/effects.ts';
import { contextWith, fronts } from '../support/http.ts';
import { lossyEngine } from '../support/lossy-proxy.ts';
import { freshTable } from '../support/table.ts';

const proxy = await lossyEngine();
beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
});
afterEach(() => vi.unstubAllEnvs());

/** A maker that gives another value every time. */
function fresh() {
  return vi.fn(() => randomUUID());
}

describe('once, and the same on every attempt', () => {
  test('after a failure, and in the attempt after that', async () => {
    const { wrap, writes } = effectWorld();
    const make = fresh();
    const seen: string[] = [];
    const run = wrap(async (claim) => {
      seen.push(await claim.capture('quotedAt', make));
      if (claim.attempt < 3) throw new Error('not yet');
    });
    for (const _attempt of [1, 2]) await expect(run()).rejects.toThrow('not yet');
    await run();
    expect(new Set(seen).size).toBe(1);
    expect(make).toHaveBeenCalledTimes(1);
    expect(writes.filter((name) => name === 'capture')).toHaveLength(1);
  });

  test('in a take-over of a claim that was never heard of again', async () => {
    const { wrap, clock } = effectWorld();
    const make = fresh();
    const seen: string[] = [];
    const run = wrap(async (claim) => {
      seen.push(await claim.capture('quotedAt', make));
      return claim.attempt === 1 ? crash() : 'done';
    });
    void run();
    await turns();
    clock.advance(lapsed);
    expect(await run()).toBe('done');
    expect(seen[1]).toBe(seen[0]);
    expect(make).toHaveBeenCalledTimes(1);
  });

  test('twice in one attempt, one after the other and at once, under the same name', async () => {
    const { wrap, writes } = effectWorld();
    const make = fresh();
    const run = wrap(async (claim) => {
      const one = await claim.capture('a', make);
      expect(await claim.capture('a', make)).toBe(one);
      expect(make).toHaveBeenCalledTimes(1);
      const both = await Promise.all([claim.capture('b', make), claim.capture('b', make)]);
      expect(both[0]).toBe(both[1]);
      // of overlapping sets each name has one value
      const [left, right] = await Promise.all([
        claim.capture({ c: make, d: make }),
        claim.capture({ d: make, e: make }),
      ]);
      expect(left.d).toBe(right.d);
      expect(await claim.capture({ a: make, c: make, e: make })).toEqual({ a: one, c: left.c, e: right.e });
    });
    await run();
    expect(writes.filter((name) => name === 'capture').length).toBeLessThanOrEqual(6);
  });

  test('past its retention the key is a stranger and starts anew', async () => {
    const { wrap, clock } = effectWorld();
    const make = fresh();
    const run = wrap((claim) => claim.capture('a', make), { retention: { minutes: 1 } });
    const first = await run();
    clock.advance(61_000);
    expect(await run()).not.toBe(first);
    expect(make).toHaveBeenCalledTimes(2);
  });

  test('an operation that reconciles is told what was captured', async () => {
    const { wrap, clock } = effectWorld();
    const asked: unknown[] = [];
    const run = wrap(
      async (claim) => {
        await claim.capture('invoice', () => 'inv-1');
        return crash();
      },
      {
        onLapse: (claim) => {
          asked.push(claim.captured('invoice'), claim.captured('other'));
          return { found: 'as the ledger has it' };
        },
      },
    );
    void run();
    await turns();
    clock.advance(lapsed);
    expect(await run()).toBe('as the ledger has it');
    expect(asked).toEqual(['inv-1', undefined]);
  });
});

describe('several in one', () => {
  /** What the real engine is asked, from the claim to the end. */
  async function requestsOf(work: (claim: Claim) => Promise<unknown>): Promise<string[]> {
    const table = await freshTable();
    const handler = idempotentHttp(
      async (_event: unknown, _context: unknown, claim) => {
        await work(claim);
        return { statusCode: 201 };
      },
      {
        store: dynamoStore({ tableName: table.tableName, endpoint: proxy.endpoint, region: 'us-east-1' }),
        operation: 'capture',
        scope: 'none',
      },
    );
    await handler(fronts.v2({ key: 'k', body: {} }) as never, contextWith() as never);
    return proxy.operations();
  }

  test('ten values are one request, what is there already costs none, and the rest share one', async () => {
    const ten = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`value-${index}`, () => index]),
    ) as Makers<Record<string, number>>;
    const operations = await requestsOf(async (claim) => {
      expect(Object.values(await claim.capture(ten))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      await claim.capture(ten);
      await claim.capture('value-3', () => 99);
      expect(await claim.capture({ 'value-4': () => 99, 'another.one/x:y': () => 'new' })).toEqual({
        'value-4': 4,
        'another.one/x:y': 'new',
      });
      expect(await claim.capture({})).toEqual({});
    });
    expect(operations).toEqual(['PutItem', 'UpdateItem', 'UpdateItem', 'UpdateItem']);
  });

  test('a lost reply: the SDK sends it again, and the value is the one that was written', async () => {
    proxy.on('UpdateItem', 'drop-reply');
    const make = fresh();
    const seen: string[] = [];
    await requestsOf(async (claim) => {
      seen.push(await claim.capture('a', make));
      seen.push(await claim.capture('a', make));
    });
    expect(proxy.writes()).toEqual(['PutItem', 'UpdateItem', 'UpdateItem', 'UpdateItem']);
    expect(seen[1]).toBe(seen[0]);
    expect(make).toHaveBeenCalledTimes(1);
  });
});

describe('the store fails', () => {
  test.each(['lost', 'reply lost'] as const)(
    'the write is %s: the value was not used, and the same attempt gets what stands',
    async (fate) => {
      const { wrap, fail, record } = effectWorld();
      const make = fresh();
      fail('capture', fate);
      const run = wrap(async (claim) => {
        await expect(claim.capture('a', make)).rejects.toMatchObject({ code: 'store' });
        return claim.capture('a', make);
      });
      const value = await run(hurried);
      expect(value).toBe(make.mock.results[fate === 'lost' ? 1 : 0]?.value);
      expect(record().values).toEqual({ a: `1v"${value as string}"` });
    },
  );

  test.each(['lost', 'reply lost'] as const)(
    'the write is %s: the next attempt gets what stands',
    async (fate) => {
      const { wrap, fail } = effectWorld();
      const make = fresh();
      fail('capture', fate);
      const run = wrap((claim) => claim.capture('a', make));
      await expect(run(hurried)).rejects.toMatchObject({ code: 'store', status: 503 });
      expect(await run()).toBe(make.mock.results[fate === 'lost' ? 1 : 0]?.value);
    },
  );

  test('S04: under a claim that was given away it is lease-lost, and the new owner keeps its value', async () => {
    const { wrap, clock, record } = effectWorld();
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = wrap(async (claim) => {
      if (claim.attempt === 1) await promise;
      return claim.capture('a', () => `of attempt ${claim.attempt}`);
    });
    const first = run();
    await turns();
    clock.advance(lapsed);
    expect(await run()).toBe('of attempt 2');
    const standing = record();
    resolve();
    await expect(first).rejects.toMatchObject({ code: 'lease-lost' });
    expect(record()).toEqual(standing);
  });

  test('a late owner captured meanwhile: the one who took over gets that value', async () => {
    const world = effectWorld();
    const { promise, resolve } = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    const run = world.wrap(async (claim) => {
      if (claim.attempt === 1) await promise;
      const value = await claim.capture('a', () => `of attempt ${claim.attempt}`);
      seen.push(value);
      return claim.attempt === 1 ? crash() : value;
    });
    void run();
    await turns();
    world.clock.advance(lapsed);
    world.before = async (name) => {
      if (name !== 'take-over') return;
      world.before = undefined;
      resolve();
      await turns();
    };
    expect(await run()).toBe('of attempt 1');
    expect(seen).toEqual(['of attempt 1', 'of attempt 1']);
  });
});

describe('values', () => {
  test.each([undefined, null, false, 0, '', [], { at: new Date(5), n: [1, undefined] }])(
    '%j comes back in the form that later attempts see',
    async (value) => {
      const { wrap } = effectWorld();
      const make = vi.fn(() => value);
      const seen: unknown[] = [];
      const run = wrap(async (claim) => {
        seen.push(await claim.capture('a', make));
        if (claim.attempt === 1) throw new Error('again');
      });
      await expect(run()).rejects.toThrow('again');
      await run();
      expect(seen).toStrictEqual([value, value]);
      expect(make).toHaveBeenCalledTimes(1);
    },
  );

  test('an instance comes back as data also the first time', async () => {
    class Quote {
      readonly amount = 5;
      readonly twice = (): number => this.amount * 2;
    }
    const { wrap } = effectWorld();
    const make = (): Quote => Object.assign(Object.create(Quote.prototype) as Quote, { amount: 5 });
    const run = wrap((claim) => claim.capture('a', make));
    const value = await run();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value).toEqual({ amount: 5 });
  });

  test.each([
    ['a Map', new Map()],
    ['NaN', Number.NaN],
    ['a function', () => 1],
    ['more than 64 KB', 'x'.repeat(65 * 1024)],
    ['a server error', { statusCode: 500 }],
  ])('%s cannot be kept: refused, and nothing of that call is written', async (_name, value) => {
    const { wrap, record, writes } = effectWorld();
    const run = wrap(async (claim) => {
      const both = claim.capture({ good: () => 1, bad: () => value as unknown });
      await expect(both).rejects.toMatchObject({
        code: 'input-invalid',
        message: expect.stringContaining('"bad"'),
      });
      expect(record().values).toBeUndefined();
    });
    await run();
    expect(writes).toEqual(['claim', 'complete']);
  });

  test('what a maker throws is thrown, and nothing is written', async () => {
    const { wrap, writes } = effectWorld();
    const broken = new Error('no rate today');
    const run = wrap((claim) => claim.capture({ a: () => 1, b: () => Promise.reject(broken) }));
    await expect(run()).rejects.toBe(broken);
    expect(writes).toEqual(['claim', 'release']);
  });
});

describe('names', () => {
  test.each(['', 'x'.repeat(65), 'two words', 'a#b', 'é'])(
    '"%s" is refused, nothing is made',
    async (name) => {
      const { wrap, writes } = effectWorld();
      const make = fresh();
      const run = wrap((claim) => claim.capture(name, make));
      await expect(run()).rejects.toMatchObject({
        code: 'input-invalid',
        message: expect.stringMatching(/no name/),
      });
      expect(make).not.toHaveBeenCalled();
      expect(writes).not.toContain('capture');
    },
  );

  test.each(['a', 'x'.repeat(64), 'a.b/c:d-e_F9', 'state', 'owner', '0'])('"%s" is a name', async (name) => {
    const { wrap, record } = effectWorld();
    const run = wrap((claim) => claim.capture(name, () => 'value'));
    expect(await run()).toBe('value');
    expect(record().values).toEqual({ [name]: '1v"value"' });
  });

  test.each(['constructor', 'toString', '__proto__'])(
    '"%s", which every object has, is a name as well',
    async (name) => {
      const { wrap } = effectWorld();
      const run = wrap((claim) => claim.capture(name, () => 'value'));
      expect(await run()).toBe('value');
    },
  );
});

test('without a claim every value is made anew, and nothing is written', async () => {
  vi.stubEnv('LAMBDA_ONCE_DISABLED', '1');
  const { store, records } = effectWorld();
  const make = fresh();
  const run = idempotent(
    async (_input: object, claim) => [await claim.capture('a', make), (await claim.capture({ a: make })).a],
    { store, operation: 'unheld-capture', key: () => 'k' },
  );
  const all = [...(await run({})), ...(await run({}))];
  expect(new Set(all).size).toBe(4);
  expect(records.size).toBe(0);
});
