import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { deriveKey } from '../../src/domain/derive.ts';
import {
  type Claim,
  defineEffect,
  type Effect,
  idempotent,
  idempotentHttp,
  idempotentSqs,
} from '../../src/index.ts';
import { crash, effectWorld, lapsed, order, otherProcess, settled, turns } from '../support/effects.ts';
import { contextWith, fronts } from '../support/http.ts';
import type { Order, Paid } from '../support/provider.ts';

afterEach(() => vi.unstubAllEnvs());

describe('several steps of one operation', () => {
  test('P11: each effect and each index has a token of its own, the same in every attempt', async () => {
    const { effect, wrap, provider, record } = effectWorld();
    const [charge, ship] = [effect(), effect()];
    let fails = true;
    const fanOut = wrap(async (claim) => {
      const results = await Promise.all([
        claim.perform(charge, order),
        claim.perform(ship, order),
        ...[0, 1, 10].map((index) => claim.perform(ship, { amount: index }, index)),
      ]);
      if (fails) throw new Error('after all of them');
      return results.map(({ chargeId }) => chargeId);
    });
    await expect(fanOut()).rejects.toThrow('after all of them');
    fails = false;
    const { id } = record();
    const wanted = [
      deriveKey(id, charge.name),
      ...[undefined, 0, 1, 10].map((index) => deriveKey(id, ship.name, index)),
    ];
    expect(provider.charges.map(({ token }) => token)).toEqual(wanted);
    expect(new Set(wanted).size).toBe(5);
    expect(await fanOut()).toEqual(['ch-1', 'ch-2', 'ch-3', 'ch-4', 'ch-5']);
    expect(provider.charges).toHaveLength(5);
  });

  test('of several that were interrupted each is asked about by its own token and index', async () => {
    const { effect, wrap, provider, clock, record } = effectWorld();
    let lives = false;
    const charge = effect({
      run: ({ amount }, { token, index }) => {
        // the first one arrives; none of them comes back
        if (lives || index === 0) provider.charge(token, amount);
        return lives ? { chargeId: `now-${index}` } : crash();
      },
    });
    const pay = wrap((claim) => Promise.all([0, 1].map((index) => claim.perform(charge, order, index))));
    void pay();
    await turns();
    lives = true;
    clock.advance(settled);
    expect(await pay()).toEqual([{ chargeId: 'ch-1' }, { chargeId: 'now-1' }]);
    const asked = provider.questions.map(({ token, index }) => [token, index]);
    const tokenOf = (index: number): string => deriveKey(record().id, charge.name, index);
    expect(asked.slice(0, 2)).toEqual([
      [tokenOf(0), 0],
      [tokenOf(1), 1],
    ]);
    expect(provider.charges.map(({ token }) => token)).toEqual([tokenOf(0), tokenOf(1)]);
  });

  test('the same step twice at once is one performance: one token, one charge, one result', async () => {
    const { effect, wrap, provider, writes } = effectWorld();
    const charge = effect();
    const pay = wrap((claim) =>
      Promise.all([claim.perform(charge, order), claim.perform(charge, { ...order })]),
    );
    expect(await pay()).toEqual([{ chargeId: 'ch-1' }, { chargeId: 'ch-1' }]);
    expect(provider.charges).toHaveLength(1);
    expect(writes).toEqual(['claim', 'begun', 'done', 'complete']);
  });

  test('the same step at once, and it fails: both are told', async () => {
    const { effect, wrap } = effectWorld();
    const charge = effect({ run: () => Promise.reject(new Error('connection lost')) });
    const pay = wrap(async (claim) => {
      const both = [claim.perform(charge, order), claim.perform(charge, order)];
      const told = (await Promise.allSettled(both)) as PromiseRejectedResult[];
      return told.map(({ reason }) => (reason as Error).message);
    });
    expect(await pay()).toEqual(['connection lost', 'connection lost']);
  });

  test('the same step again, later in the same attempt, gives the stored result', async () => {
    const { effect, wrap, provider } = effectWorld();
    const charge = effect();
    const pay = wrap(async (claim) => [
      await claim.perform(charge, order),
      await claim.perform(charge, order),
    ]);
    expect(await pay()).toEqual([{ chargeId: 'ch-1' }, { chargeId: 'ch-1' }]);
    expect(provider).toMatchObject({ charges: [{ chargeId: 'ch-1' }], questions: [] });
  });

  test.each([-1, 1.5, Number.NaN, '0', null])(
    'an index of %s is refused before anything is written',
    async (index) => {
      const { effect, wrap, provider, writes } = effectWorld();
      const charge = effect();
      const pay = wrap((claim) => claim.perform(charge, order, index as number));
      await expect(pay()).rejects.toMatchObject({ code: 'input-invalid' });
      expect(provider.charges).toEqual([]);
      expect(writes).toEqual(['claim', 'release']);
    },
  );
});

describe('the input of a step', () => {
  test('another one at once, later, or in a later attempt is refused, and nothing is sent for it', async () => {
    const { effect, wrap, provider } = effectWorld();
    const charge = effect();
    const refusals: unknown[] = [];
    const pay = wrap(async (claim) => {
      const other = (amount: number) =>
        claim.perform(charge, { amount }).catch((error: unknown) => void refusals.push(error));
      if (claim.attempt === 2) return other(3);
      await Promise.all([claim.perform(charge, order), other(1)]);
      await other(2);
      throw new Error('the first attempt is over');
    });
    await expect(pay()).rejects.toThrow('the first attempt is over');
    await pay();
    expect(refusals).toHaveLength(3);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        code: 'input-invalid',
        message: expect.stringContaining('another input'),
      });
    }
    expect(provider.charges).toHaveLength(1);
  });

  test('another one over an effect that is open is refused as well: nobody is asked about the wrong thing', async () => {
    const { effect, wrap, provider, clock } = effectWorld();
    const charge = effect({ run: crash });
    const pay = wrap((claim) => claim.perform(charge, { amount: claim.attempt }));
    void pay();
    await turns();
    provider.says = () => 'absent';
    clock.advance(settled);
    await expect(pay()).rejects.toMatchObject({ code: 'input-invalid' });
  });

  test('the order of its members does not matter', async () => {
    const { wrap } = effectWorld();
    const run = vi.fn(() => 'sent');
    const mail = defineEffect<object, string>({
      name: `mail-${randomUUID()}`,
      run,
      reconcile: () => 'unknown',
    });
    const send = wrap(async (claim) => [
      await claim.perform(mail, { to: 'ann', subject: 'hi' }),
      await claim.perform(mail, { subject: 'hi', to: 'ann' }),
    ]);
    expect(await send()).toEqual(['sent', 'sent']);
    expect(run).toHaveBeenCalledTimes(1);
  });

  const cycle: { self?: object } = {};
  cycle.self = cycle;
  test.each([
    ['NaN', { amount: Number.NaN }],
    ['a Map', new Map([['amount', 1]])],
    ['a function', { amount: () => 1 }],
    ['a cycle', cycle],
  ])(
    '%s has no digest: refused before anything is written, and the step is still free',
    async (_name, input) => {
      const { wrap, writes } = effectWorld();
      const run = vi.fn(() => 'sent');
      const mail = defineEffect<unknown, string>({
        name: `mail-${randomUUID()}`,
        run,
        reconcile: () => 'unknown',
      });
      const send = wrap(async (claim) => {
        const refusal = await claim.perform(mail, input).catch((error: unknown) => error);
        expect(refusal).toMatchObject({ code: 'input-invalid', message: expect.stringMatching(/^input/) });
        expect(writes).toEqual(['claim']);
        return claim.perform(mail, { amount: 1 });
      });
      expect(await send()).toBe('sent');
      expect(run).toHaveBeenCalledTimes(1);
    },
  );

  test.each([true, false])(
    'keepInput %s: what the question is told in another process',
    async (keepInput) => {
      const { store, operation, clock, provider, wrap, effect, entry, record } = effectWorld();
      const charge = effect({ keepInput, run: crash });
      const pay = wrap((claim) => claim.perform(charge, { amount: 4242 }));
      void pay();
      await turns();
      expect(entry(charge.name)).toMatchObject({ state: 'begun' });
      expect(JSON.stringify(record()).includes('4242')).toBe(keepInput);
      clock.advance(lapsed);
      provider.says = () => ({ found: { chargeId: 'theirs' } });
      const theirs = await otherProcess();
      theirs.defineEffect<Order, Paid, boolean>({
        name: charge.name,
        keepInput,
        run: crash,
        reconcile: (input, context) => provider.ask(input, context),
      });
      const options = { store, operation, key: () => 'o-1', onLapse: 'rerun', fingerprint: false } as const;
      expect(await theirs.idempotent(async () => 'elsewhere', options)({})).toBe('elsewhere');
      expect(provider.questions.map(({ input }) => input)).toEqual([
        keepInput ? { amount: 4242 } : undefined,
      ]);
    },
  );

  test.each([
    ['bytes', new Uint8Array([1, 2])],
    ['a bigint', 12n],
    ['more than 64 KB', 'x'.repeat(65 * 1024)],
  ])('keepInput refuses %s, which a digest takes, before anything is written', async (_name, input) => {
    const { wrap, writes } = effectWorld();
    const run = vi.fn(() => 'sent');
    const named = { run, reconcile: () => 'unknown' as const };
    const keeping = defineEffect<unknown, string, boolean>({
      ...named,
      name: `k-${randomUUID()}`,
      keepInput: true,
    });
    const digesting = defineEffect<unknown, string>({ ...named, name: `d-${randomUUID()}` });
    const send = wrap(async (claim) => {
      await expect(claim.perform(keeping, input)).rejects.toMatchObject({ code: 'input-invalid' });
      expect({ writes, runs: run.mock.calls.length }).toEqual({ writes: ['claim'], runs: 0 });
      return claim.perform(digesting, input);
    });
    expect(await send()).toBe('sent');
  });
});

describe('without a claim an effect runs under a token of that one run, and nothing is written', () => {
  const tokens: string[] = [];
  const charge: Effect<Order, string> = defineEffect({
    name: 'unheld-charge',
    run: async (_order: Order, { token, fence, attempt, reference, signal }) => {
      await reference('psp-1');
      expect({ fence, attempt, aborted: signal.aborted }).toEqual({ fence: 0, attempt: 1, aborted: false });
      tokens.push(token);
      return 'charged';
    },
    reconcile: () => 'unknown',
  });
  const { store, records } = effectWorld();

  test.each([
    [
      'a safe method',
      async () => {
        const options = { store, operation: 'unheld-http', scope: 'none' } as const;
        const work = async (_event: unknown, _context: unknown, claim: Claim) => ({
          statusCode: 200,
          body: await claim.perform(charge, order),
        });
        const handler = idempotentHttp(work as never, options);
        return handler(fronts.v2({ method: 'GET', key: 'k' }), contextWith());
      },
    ],
    [
      'the kill switch, function',
      async () => {
        vi.stubEnv('LAMBDA_ONCE_DISABLED', '1');
        const options = { store, operation: 'unheld-function', key: () => 'k' };
        return idempotent(async (_input: object, claim) => claim.perform(charge, order), options)({});
      },
    ],
    [
      'the kill switch, queue',
      async () => {
        vi.stubEnv('LAMBDA_ONCE_DISABLED', '1');
        const options = { store, operation: 'unheld-queue', key: () => 'k' };
        const consume = idempotentSqs(
          async (_record, _context, claim) => claim.perform(charge, order),
          options,
        );
        return consume({ Records: [{ messageId: 'm', body: '{}' }] }, contextWith());
      },
    ],
  ])('P11: %s', async (_name, deliver) => {
    tokens.length = 0;
    const answers = [await deliver(), await deliver()];
    expect(answers[0]).toEqual(answers[1]);
    expect(tokens).toHaveLength(2);
    expect(tokens[0]).not.toBe(tokens[1]);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
    expect(records.size).toBe(0);
  });
});
