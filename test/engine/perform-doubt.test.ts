import { describe, expect, test } from 'vitest';
import { type Claim, idempotentHttp, idempotentSqs } from '../../src/index.ts';
import {
  type Charge,
  crash,
  type EffectWorld,
  effectWorld,
  lapsed,
  type Options,
  order,
  settled,
  turns,
} from '../support/effects.ts';
import { contextWith, fronts } from '../support/http.ts';

/** A first attempt that dies inside an effect; what was found out is in `provider`. */
async function crashedIn(onLapse: Options['onLapse'], { charged }: { readonly charged: boolean }) {
  const world = effectWorld();
  let lives = false;
  const charge = world.effect({
    run: ({ amount }, { token }) => {
      const paid = charged || lives ? world.provider.charge(token, amount) : undefined;
      return lives && paid !== undefined ? paid : crash();
    },
  });
  let bodies = 0;
  const pay = world.wrap(
    (claim) => {
      bodies += 1;
      return claim.perform(charge, order);
    },
    { onLapse },
  );
  void pay();
  await turns();
  lives = true;
  return { ...world, pay, charge, bodies: () => bodies };
}

describe('a process died inside an effect', () => {
  test.each([true, false])(
    "L06: hold (charged: %s): the effect's answer does not say how the body ended, so a person decides",
    async (charged) => {
      const { pay, clock, store, operation, record, bodies, entry, charge, provider } = await crashedIn(
        'hold',
        { charged },
      );
      for (const later of [lapsed, settled]) {
        clock.advance(later);
        await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
      }
      expect(bodies()).toBe(1);
      expect(record().doubtOf).toBeUndefined();
      expect(entry(charge.name)).toMatchObject({ state: charged ? 'done' : 'begun' });
      const decided = { operation, scope: 'none', key: 'o-1', by: 'ops', why: 'the ledger says so' } as const;
      await store.resolve({ ...decided, as: 'released' });
      expect(await pay()).toEqual({ chargeId: 'ch-1' });
      expect(provider.charges).toHaveLength(1);
    },
  );

  test('L06: hold: a person may complete it, and with that shut it', async () => {
    const { pay, clock, store, operation, bodies } = await crashedIn('hold', { charged: true });
    clock.advance(lapsed);
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    const decided = { operation, scope: 'none', key: 'o-1', by: 'ops', why: 'the ledger says so' } as const;
    await store.resolve({ ...decided, as: 'completed', value: 'by hand' });
    expect(await pay()).toBe('by hand');
    expect(bodies()).toBe(1);
  });

  test('a person says that it happened: the next attempt has its result; or that it did not: it runs', async () => {
    for (const found of [true, false]) {
      const { pay, clock, store, operation, provider, charge } = await crashedIn('hold', { charged: false });
      clock.advance(lapsed);
      provider.says = () => 'unknown';
      await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
      await store.resolve({
        operation,
        scope: 'none',
        key: 'o-1',
        by: 'ops',
        why: 'the ledger says so',
        as: 'released',
        ...(found && { found: { [charge.name]: { chargeId: 'from the ledger' } } }),
      });
      const asked = provider.questions.length;
      expect(await pay()).toEqual({ chargeId: found ? 'from the ledger' : 'ch-1' });
      expect(provider.charges).toHaveLength(found ? 0 : 1);
      expect(provider.questions).toHaveLength(asked);
    }
  });

  test.each([
    [true, lapsed],
    [false, settled],
  ])(
    'rerun (charged: %s): as soon as the effect is decided the next attempt runs',
    async (charged, later) => {
      const { pay, clock, provider, record } = await crashedIn('rerun', { charged });
      clock.advance(later - 1);
      await expect(pay()).rejects.toMatchObject({ code: charged ? 'busy' : 'in-doubt' });
      clock.advance(1);
      expect(await pay()).toEqual({ chargeId: 'ch-1' });
      expect(provider.charges).toHaveLength(1);
      expect(record()).toMatchObject({ state: 'completed', attempt: 2 });
    },
  );

  test('reconcile: effects are asked about first; the operation only when they are decided', async () => {
    const asked: unknown[] = [];
    const answers: unknown[] = ['unknown', 'absent'];
    const onLapse = {
      reconcile: () => {
        asked.push('operation');
        return answers.shift() as 'absent';
      },
    };
    const { pay, clock, provider, entry, charge, bodies } = await crashedIn(onLapse, { charged: true });
    provider.says = () => 'unknown';
    clock.advance(settled);
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    expect(asked).toEqual([]);
    provider.says = undefined;
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    // the operation is still unknown, what was found out about the effect is kept
    expect({ asked, entry: entry(charge.name)?.state }).toEqual({ asked: ['operation'], entry: 'done' });
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect({ bodies: bodies(), charges: provider.charges.length }).toEqual({ bodies: 2, charges: 1 });
    expect(provider.questions).toHaveLength(2);
  });

  test('reconcile: what the operation finds completes and replays', async () => {
    const onLapse = { reconcile: () => ({ found: 'as the ledger has it' }) };
    const { pay, clock, record, bodies, entry, charge } = await crashedIn(onLapse, { charged: true });
    clock.advance(lapsed);
    expect([await pay(), await pay()]).toEqual(['as the ledger has it', 'as the ledger has it']);
    expect(record()).toMatchObject({ state: 'completed' });
    expect({ bodies: bodies(), entry: entry(charge.name)?.state }).toEqual({ bodies: 1, entry: 'done' });
  });
});

/** An operation with the default `onLapse`, whose effect fails by the first of its words and later charges. */
function holding(
  fails: () => unknown,
  work?: (claim: Claim, charge: Charge) => unknown,
  options: Options = {},
) {
  const world: EffectWorld = effectWorld();
  let failing = true;
  const charge = world.effect({
    run: ({ amount }, { token }) => (failing ? (fails() as never) : world.provider.charge(token, amount)),
  });
  const pay = world.wrap(
    (claim) => (work === undefined ? claim.perform(charge, order) : work(claim, charge)),
    { onLapse: 'hold', ...options },
  );
  return {
    ...world,
    pay,
    charge,
    recover: () => {
      failing = false;
    },
  };
}

const timeout = (): never => {
  throw new DOMException('The provider did not answer.', 'TimeoutError');
};

describe("onLapse 'hold': the handler did not get past the effect", () => {
  test('its run threw a TimeoutError: in doubt of effects only, and goes on when they are decided', async () => {
    const { pay, clock, record, recover, provider } = holding(timeout);
    await expect(pay()).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(record()).toMatchObject({ state: 'in-doubt', doubtOf: 'effects', dueAt: clock.now() + 63_000 });
    recover();
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    clock.advance(63_001);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect(provider.charges).toHaveLength(1);
    expect(record()).toMatchObject({ state: 'completed', attempt: 2 });
    expect(record().doubtOf).toBeUndefined();
  });

  test('and it turns out that the provider had carried it out: the next attempt has its result', async () => {
    const world = holding(timeout);
    await expect(world.pay()).rejects.toMatchObject({ name: 'TimeoutError' });
    world.provider.says = () => ({ found: { chargeId: 'arrived' } });
    expect(await world.pay()).toEqual({ chargeId: 'arrived' });
    expect(world.provider.charges).toEqual([]);
  });

  test('perform said in-doubt: the same, and the caller is told so', async () => {
    const { pay, clock, record, recover, provider } = holding(
      () => {
        throw new Error('connection lost');
      },
      // within one attempt: the first call leaves it open, the second one asks and cannot tell yet
      async (claim, charge) => claim.perform(charge, order).catch(() => claim.perform(charge, order)),
    );
    await expect(pay()).rejects.toMatchObject({ code: 'in-doubt', retryAfter: 30 });
    expect(record()).toMatchObject({ state: 'in-doubt', doubtOf: 'effects' });
    recover();
    clock.advance(63_001);
    expect(await pay()).toEqual({ chargeId: 'ch-1' });
    expect(provider.charges).toHaveLength(1);
  });

  test('an operation with a reconcile of its own is asked as well: it has effects outside the journal', async () => {
    const asked: unknown[] = [];
    const reconcile = () => {
      asked.push(1);
      return 'unknown' as const;
    };
    const { pay, record } = holding(timeout, undefined, { onLapse: reconcile });
    await expect(pay()).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(record()).toMatchObject({ state: 'in-doubt' });
    expect(record().doubtOf).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

describe("onLapse 'hold': the handler went on, or nobody knows", () => {
  /** Whatever is found out about the effect, the operation waits for somebody to resolve it. */
  async function staysInDoubt(world: EffectWorld, pay: () => Promise<unknown>): Promise<void> {
    world.provider.says = () => ({ found: { chargeId: 'arrived' } });
    for (const later of [0, settled, 3600_000]) {
      world.clock.advance(later);
      await expect(pay()).rejects.toMatchObject({ code: 'in-doubt' });
    }
    expect(world.record()).toMatchObject({ state: 'in-doubt' });
    expect(world.record().doubtOf).toBeUndefined();
    const decided = {
      operation: world.operation,
      scope: 'none',
      key: 'o-1',
      by: 'ops',
      why: 'seen',
    } as const;
    await world.store.resolve({ ...decided, as: 'completed', value: 'by hand' });
    expect(await pay()).toBe('by hand');
  }

  test('it returned an answer over an open effect: its caller gets that, nobody else does', async () => {
    const world = holding(timeout, (claim, charge) => claim.perform(charge, order).catch(() => 'accepted'));
    expect(await world.pay()).toBe('accepted');
    expect(world.record()).toMatchObject({ state: 'in-doubt' });
    await staysInDoubt(world, world.pay);
  });

  test('it threw a final answer over an open effect: that is not recorded', async () => {
    const declined = Object.assign(new Error('no'), { status: 422 });
    const world = holding(timeout, (claim, charge) =>
      claim.perform(charge, order).catch(() => Promise.reject(declined)),
    );
    await expect(world.pay()).rejects.toBe(declined);
    expect(world.record().outcome).toBeUndefined();
    await staysInDoubt(world, world.pay);
  });

  test('it timed out elsewhere, after the effect had failed', async () => {
    const world = holding(timeout, async (claim, charge) => {
      await claim.perform(charge, order).catch(() => undefined);
      throw new DOMException('Something else did not answer.', 'TimeoutError');
    });
    await expect(world.pay()).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(world.record()).toMatchObject({ state: 'claimed' });
    world.clock.advance(lapsed);
    await staysInDoubt(world, world.pay);
  });

  test('it ended while the effect still ran: left to its lease, and what the effect brings is written down', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { effect, wrap, entry, record, clock, provider } = effectWorld();
    const charge = effect({
      run: async ({ amount }, { token }) => {
        await promise;
        return provider.charge(token, amount);
      },
    });
    let running: Promise<unknown> | undefined;
    const pay = wrap((claim) => {
      running ??= claim.perform(charge, order);
      return 'too early';
    });
    expect(await pay()).toBe('too early');
    expect({ state: record().state, entry: entry(charge.name)?.state }).toEqual({
      state: 'claimed',
      entry: 'begun',
    });
    await expect(pay()).rejects.toMatchObject({ code: 'busy' });
    resolve();
    await running;
    expect(entry(charge.name)).toMatchObject({ state: 'done' });
    clock.advance(lapsed);
    expect(await pay()).toBe('too early');
    expect(provider.charges).toHaveLength(1);
  });
});

describe('what a front door makes of it', () => {
  test('H: over HTTP 409 in-doubt with Retry-After, from the attempt that finds out and from every later one', async () => {
    const { effect, store } = effectWorld();
    const charge = effect({ run: () => Promise.reject(new Error('connection lost')) });
    const handler = idempotentHttp(
      async (_event: unknown, _context: unknown, claim) => {
        const first = await claim.perform(charge, order).catch(() => claim.perform(charge, order));
        return { statusCode: 201, body: first.chargeId };
      },
      { store, operation: 'pay-http', scope: 'none' },
    );
    for (const _attempt of [1, 2]) {
      const answer = await handler(fronts.v2({ key: 'k', body: {} }) as never, contextWith() as never);
      expect(answer).toMatchObject({ statusCode: 409, headers: { 'Retry-After': '30' } });
      expect(JSON.parse((answer as { body: string }).body)).toMatchObject({ code: 'in-doubt' });
    }
  });

  test('from a queue the message fails, and comes back', async () => {
    const { effect, store, provider, clock } = effectWorld();
    let fails = true;
    const charge = effect({
      settleAfter: { milliseconds: 0 },
      run: ({ amount }, { token }) => {
        if (fails) throw new Error('connection lost');
        return provider.charge(token, amount);
      },
    });
    const consume = idempotentSqs(async (_record, _context, claim) => claim.perform(charge, order), {
      store,
      operation: 'pay-queue',
      key: () => 'o-1',
    });
    const batch = { Records: [{ messageId: 'm-1', body: '{}' }] };
    expect(await consume(batch, contextWith())).toEqual({ batchItemFailures: [{ itemIdentifier: 'm-1' }] });
    fails = false;
    expect(await consume(batch, contextWith())).toEqual({ batchItemFailures: [{ itemIdentifier: 'm-1' }] });
    expect(provider.charges).toEqual([]);
    // the skew
    clock.advance(3001);
    expect(await consume(batch, contextWith())).toEqual({ batchItemFailures: [] });
    expect(provider.charges).toHaveLength(1);
  });
});
