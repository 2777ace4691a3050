import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEntry } from '../../src/domain/journal.ts';
import type { OnceRecord } from '../../src/domain/record.ts';
import {
  defineEffect,
  IdempotencyError,
  idempotent,
  isIdempotencyError,
  type Store,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';
import { turns } from '../support/effects.ts';

const lease = 10_000;
const skew = 1000;
/** The longest that a request is on its way to the provider. */
const longest = 5000;

/** How one delivery goes. */
const delivery = fc.record({
  /** Milliseconds since the one before. */
  after: fc.constantFrom(0, 1, skew + 2, lease, lease + skew + 1, lease + skew + longest + 2, 2 * lease),
  /** It dies at this write of its own, before or after it lands; or lives. */
  dies: fc.option(fc.record({ at: fc.nat({ max: 8 }), side: fc.constantFrom('before', 'after') }), {
    freq: 2,
  }),
  /** This write of its own lands, or does not, and its reply is lost. */
  failing: fc.option(fc.record({ at: fc.nat({ max: 8 }), lands: fc.boolean() }), { freq: 2 }),
  /** What becomes of its requests to the provider. */
  requests: fc.array(fc.constantFrom('answered', 'lands', 'late', 'lost', 'dies'), {
    minLength: 3,
    maxLength: 3,
  }),
});
type Delivery = typeof delivery extends fc.Arbitrary<infer Value> ? Value : never;

/** What was seen to go wrong, by the provider's own books and by what callers were told. */
interface Seen {
  readonly mostCharges: number;
  readonly told: ReadonlySet<string>;
  readonly wentBack: boolean;
  readonly reached: ReadonlySet<string>;
}

/** Plays deliveries of one order, which makes three charges, against a provider that never lies. */
async function play(deliveries: readonly Delivery[], keys: boolean, settleAfter: number): Promise<Seen> {
  const clock = { now: 1_900_000_000_000 };
  const records = new Map<string, OnceRecord>();
  const table = memoryStore({ now: () => clock.now, records });
  const sent: { readonly token: string; readonly lands: number }[] = [];
  const chargesOf = (token: string): number => {
    const landed = sent.filter((request) => request.token === token && request.lands <= clock.now).length;
    return keys ? Math.min(landed, 1) : landed;
  };
  const told = new Set<string>();
  const reached = new Set<string>();
  let wentBack = false;

  const deliver = async ({ dies, failing, requests }: Delivery): Promise<string> => {
    let writes = -1;
    let request = -1;
    const forever = (): Promise<never> => new Promise(() => {});
    const store: Store = {
      ...table,
      write: async (transition, limits) => {
        writes += 1;
        const at = writes;
        if (dies?.at === at && dies.side === 'before') return forever();
        if (failing?.at === at && !failing.lands) throw new IdempotencyError('store', 'lost');
        const before = [...records.values()][0]?.effects ?? {};
        const written = await table.write(transition, limits);
        const after = [...records.values()][0]?.effects ?? {};
        for (const [slot, text] of Object.entries(before)) {
          const isDone = decodeEntry(text).state === 'done';
          if (isDone && decodeEntry(after[slot] ?? '').state !== 'done') wentBack = true;
        }
        if (dies?.at === at) return forever();
        if (failing?.at === at) throw new IdempotencyError('store', 'the reply is lost');
        return written;
      },
    };
    const charge = defineEffect({
      name: 'charge',
      run: async (_input: object, { token }) => {
        request += 1;
        const fate = requests[request % requests.length] ?? 'answered';
        reached.add(fate);
        if (fate !== 'lost') sent.push({ token, lands: clock.now + (fate === 'late' ? longest : 0) });
        if (fate === 'dies') return forever();
        if (fate !== 'answered') throw new Error('no answer');
        return `charged ${token}`;
      },
      reconcile: (_input, { token }) => (chargesOf(token) > 0 ? { found: `charged ${token}` } : 'absent'),
      settleAfter: { milliseconds: settleAfter },
    });
    const once = idempotent(
      async (_input: object, claim) => {
        const one = await claim.perform(charge, {});
        const others = await Promise.all([0, 1].map((index) => claim.perform(charge, {}, index)));
        return [one, ...others].join();
      },
      {
        store,
        operation: 'pay',
        key: () => 'k',
        lease: { milliseconds: lease },
        skew: { milliseconds: skew },
        retention: { days: 1 },
        onLapse: 'rerun',
      },
    );
    return once({}, { getRemainingTimeInMillis: () => 40 });
  };

  for (const each of [...deliveries, ...calm]) {
    clock.now += each.after;
    const ended = deliver(each).then(
      (answer) => {
        told.add(answer);
        reached.add('told');
      },
      (error: unknown) => reached.add(isIdempotencyError(error) ? error.code : 'failed'),
    );
    await Promise.race([ended, turns()]);
  }
  clock.now += longest;
  const mostCharges = Math.max(0, ...sent.map(({ token }) => chargesOf(token)));
  return { mostCharges, told, wentBack, reached };
}

/** In the end a client that is told to come again, and a provider that answers. */
const calm: readonly Delivery[] = [1, 2].map(() => ({
  after: 2 * lease,
  dies: null,
  failing: null,
  requests: ['answered', 'answered', 'answered'],
}));

test.each([
  ['without idempotency keys', false, longest],
  ['that merges by token, where nothing has to settle', true, 0],
] as const)(
  'at most one charge per token at a provider %s, and one answer, in the end',
  async (_name, keys, settleAfter) => {
    const reached = new Set<string>();
    const property = fc.asyncProperty(
      fc.array(delivery, { minLength: 1, maxLength: 5 }),
      async (deliveries) => {
        const seen = await play(deliveries, keys, settleAfter);
        for (const each of seen.reached) reached.add(each);
        expect(seen.mostCharges).toBe(1);
        expect(seen.told.size).toBe(1);
        expect(seen.wentBack).toBe(false);
      },
    );
    await fc.assert(property, { numRuns: 600 });
    expect([...reached]).toEqual(
      expect.arrayContaining(['late', 'lost', 'dies', 'busy', 'in-doubt', 'store', 'told']),
    );
  },
  60_000,
);

test('negative control: where late requests are not waited for, the same check finds a second charge', async () => {
  const property = fc.asyncProperty(
    fc.array(delivery, { minLength: 1, maxLength: 5 }),
    async (deliveries) => {
      const { mostCharges } = await play(deliveries, false, 0);
      return mostCharges <= 1;
    },
  );
  const { failed } = await fc.check(property, { numRuns: 2000 });
  expect(failed).toBe(true);
}, 60_000);
