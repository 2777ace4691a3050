import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { type Claim, defineEffect, IdempotencyError, type RunContext } from '../../src/index.ts';
import { crash, effectWorld, lapsed, type Options, order, settled, turns } from '../support/effects.ts';

/** An effect with any result, and an operation whose first attempt fails after it. */
function resulting(
  run: (context: RunContext) => unknown,
  options: { readonly onFailure?: (error: unknown) => 'record' | 'open' } = {},
) {
  const world = effectWorld();
  const ran = vi.fn(run);
  const effect = defineEffect<object, unknown>({
    name: `any-${randomUUID()}`,
    run: (_input, context) => ran(context),
    reconcile: (input, context) => world.provider.ask(input as never, context),
    ...options,
  });
  const seen: unknown[] = [];
  const operation = (work: (claim: Claim) => unknown, operationOptions?: Options) => {
    let first = true;
    const pay = world.wrap(async (claim) => {
      const result = await work(claim);
      seen.push(result);
      if (first) {
        first = false;
        throw new Error('the first attempt fails');
      }
      return result;
    }, operationOptions);
    return pay;
  };
  return { ...world, ran, effect, seen, operation, perform: (claim: Claim) => claim.perform(effect, {}) };
}

describe('results', () => {
  test.each([
    undefined,
    null,
    false,
    0,
    -0,
    '',
    [],
    {},
    [undefined, null],
    new Date(0),
    { at: new Date(5), nested: { list: [1, '2'] } },
  ])('%j is a result: the second attempt gets the same', async (result) => {
    const { ran, seen, operation, perform, provider } = resulting(() => result);
    const pay = operation(perform);
    await expect(pay()).rejects.toThrow('the first attempt fails');
    await pay();
    expect(seen).toStrictEqual([result, structuredClone(result)]);
    expect(ran).toHaveBeenCalledTimes(1);
    expect(provider.questions).toEqual([]);
  });

  const unstorable = [
    ['a Map', new Map([['a', 1]])],
    ['NaN', { amount: Number.NaN }],
    ['more than 64 KB', 'x'.repeat(65 * 1024)],
  ] as const;

  test.each(unstorable)(
    '%s comes back untouched; a later attempt asks for it and runs nothing',
    async (_name, result) => {
      const { ran, seen, operation, perform, provider, entry, effect } = resulting(() => result);
      const pay = operation(perform);
      await expect(pay()).rejects.toThrow('the first attempt fails');
      expect(seen[0]).toBe(result);
      expect(entry(effect.name)).toMatchObject({ state: 'done' });
      provider.says = () => ({ found: 'as the provider has it' });
      expect(await pay()).toBe('as the provider has it');
      expect(ran).toHaveBeenCalledTimes(1);
    },
  );

  test.each(['absent', 'unknown', 'nonsense'])(
    'one that was not kept, and the provider says %s: outcome-not-kept, never a second run',
    async (answer) => {
      const { ran, operation, perform, provider, clock } = resulting(() => new Map());
      const pay = operation(perform);
      await expect(pay()).rejects.toThrow('the first attempt fails');
      provider.says = () => answer;
      clock.advance(settled);
      for (const _attempt of [2, 3]) {
        await expect(pay()).rejects.toMatchObject({ code: 'outcome-not-kept', status: 410 });
      }
      expect(ran).toHaveBeenCalledTimes(1);
    },
  );

  test.each([503, '500', 599])(
    'an answer with statusCode %s is no result: it comes back, and stays open',
    async (statusCode) => {
      const { ran, seen, operation, perform, provider, entry, effect, record } = resulting(() => ({
        statusCode,
      }));
      const pay = operation(perform);
      await expect(pay()).rejects.toThrow('the first attempt fails');
      expect(seen).toEqual([{ statusCode }]);
      expect(entry(effect.name)).toMatchObject({ state: 'begun' });
      expect(record().dueAt).toBeDefined();
      provider.says = () => 'unknown';
      await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
      expect(ran).toHaveBeenCalledTimes(1);
    },
  );

  test('an answer with statusCode 402 is a result', async () => {
    const { ran, seen, operation, perform } = resulting(() => ({ statusCode: 402, body: 'no funds' }));
    const pay = operation(perform);
    await expect(pay()).rejects.toThrow('the first attempt fails');
    await pay();
    expect(seen[1]).toEqual({ statusCode: 402, body: 'no funds' });
    expect(ran).toHaveBeenCalledTimes(1);
  });
});

describe('what run throws', () => {
  const declined = (status: number) =>
    Object.assign(new Error('no funds'), { name: 'CardDeclined', status, code: 'card_declined' });
  /** What a performance throws, as a value. */
  const caught = (perform: (claim: Claim) => unknown) => async (claim: Claim) => {
    try {
      return { returned: await perform(claim) };
    } catch (error) {
      return error;
    }
  };

  test.each([400, 402, 404, 410, 422])(
    'a deliberate %s is recorded, and thrown again without asking',
    async (status) => {
      const { ran, seen, operation, perform, provider, entry, effect } = resulting(() =>
        Promise.reject(declined(status)),
      );
      const pay = operation(caught(perform));
      await expect(pay()).rejects.toThrow('the first attempt fails');
      expect(entry(effect.name)).toMatchObject({ state: 'done' });
      await pay();
      expect(seen[1]).toMatchObject({
        name: 'CardDeclined',
        message: 'no funds',
        status,
        statusCode: status,
        code: 'card_declined',
      });
      expect((seen[1] as Error).stack).toBe('CardDeclined: no funds');
      expect(ran).toHaveBeenCalledTimes(1);
      expect(provider.questions).toEqual([]);
    },
  );

  test('one that the handler lets through is the outcome of the operation as well', async () => {
    const { wrap, perform, ran, record } = resulting(() => Promise.reject(declined(402)));
    const pay = wrap(perform);
    await expect(pay()).rejects.toMatchObject({ name: 'CardDeclined', status: 402 });
    expect(record()).toMatchObject({ state: 'completed' });
    await expect(pay()).rejects.toMatchObject({ name: 'CardDeclined', status: 402, code: 'card_declined' });
    expect(ran).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['no status', new Error('connection lost')],
    ['401', declined(401)],
    ['403', declined(403)],
    ['408', declined(408)],
    ['409', declined(409)],
    ['423', declined(423)],
    ['425', declined(425)],
    ['429', declined(429)],
    ['503', declined(503)],
    ['a refusal of ours', new IdempotencyError('key-reused', 'by another operation inside')],
    ['no error at all', 'a text'],
  ])('with %s it is open whether it happened: asked about, never run blindly', async (_name, error) => {
    const { ran, operation, perform, provider, entry, effect } = resulting(() => Promise.reject(error));
    const pay = operation(caught(perform));
    await expect(pay()).rejects.toThrow('the first attempt fails');
    expect(entry(effect.name)).toMatchObject({ state: 'begun' });
    provider.says = () => 'unknown';
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    expect(ran).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['record', new Error('out of stock'), 'done'],
    ['open', declined(402), 'begun'],
    // what would be told again is a server error, which is no result
    ['record', declined(500), 'begun'],
  ] as const)('onFailure %s has the last word about %s', async (word, error, state) => {
    const { operation, perform, entry, effect } = resulting(() => Promise.reject(error), {
      onFailure: () => word,
    });
    await expect(operation(caught(perform))()).rejects.toThrow('the first attempt fails');
    expect(entry(effect.name)).toMatchObject({ state });
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
    ],
    ['rejects', () => Promise.reject(new Error('a bug'))],
    ['says nonsense', () => 'perhaps'],
  ])('an onFailure that %s leaves it open, and the error of run goes out', async (_name, onFailure) => {
    const error = declined(402);
    const { seen, operation, perform, entry, effect } = resulting(() => Promise.reject(error), {
      onFailure: onFailure as () => 'open',
    });
    await expect(operation(caught(perform))()).rejects.toThrow('the first attempt fails');
    expect(seen[0]).toBe(error);
    expect(entry(effect.name)).toMatchObject({ state: 'begun' });
  });
});

test('what run left open settles from when it threw, not from the end of its lease', async () => {
  const { effect, wrap, provider, clock } = effectWorld();
  let fails = true;
  const charge = effect({
    run: ({ amount }, { token }) => {
      if (fails) throw new Error('connection lost');
      return provider.charge(token, amount);
    },
  });
  const pay = wrap((claim) => claim.perform(charge, order));
  await expect(pay()).rejects.toThrow('connection lost');
  fails = false;
  // the skew and settleAfter, counted from the throw
  clock.advance(63_000);
  await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
  clock.advance(1);
  expect(await pay()).toEqual({ chargeId: 'ch-1' });
});

test('the run is told what it needs: token, index, fence, attempt, and a signal of the lease', async () => {
  const { effect, wrap, clock, record } = effectWorld();
  const contexts: RunContext[] = [];
  const charge = effect({
    settleAfter: { milliseconds: 0 },
    run: (_order, context) => {
      contexts.push(context);
      return context.attempt === 1 ? crash() : { chargeId: 'ch-1' };
    },
  });
  const pay = wrap((claim) => claim.perform(charge, order, 7));
  void pay();
  await turns();
  const { fence } = record();
  clock.advance(lapsed);
  await pay();
  expect(contexts).toMatchObject([
    { index: 7, fence, attempt: 1 },
    { index: 7, fence: record().fence, attempt: 2 },
  ]);
  expect(contexts[1]?.token).toBe(contexts[0]?.token);
  expect(contexts[1]?.signal.aborted).toBe(false);
});
