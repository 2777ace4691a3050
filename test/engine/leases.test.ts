import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { recordId } from '../../src/domain/identity.ts';
import { idempotentHttp, type OnceEvent, type Store } from '../../src/index.ts';
import { type Item, toRecord } from '../../src/store/dynamo/item.ts';
import { freshTable } from '../support/table.ts';
import { type Worker, worker } from '../support/workers-held.ts';

const table = await freshTable();
const lease = { seconds: 10 };
/** The default allowance for clocks that differ. */
const skew = 3000;
const over = 10_000 + skew + 1;

/** Two processes on one table, each with a clock. */
function twoWorkers(options: object = {}): {
  readonly a: Worker;
  readonly b: Worker;
  readonly clock: { a: number; b: number; both: number };
  readonly item: () => Promise<Item | undefined>;
} {
  const clock = { a: 0, b: 0, both: 1_900_000_000_000 };
  const operation = `lease-${randomUUID()}`;
  const at = (own: 'a' | 'b'): Store => table.store({ now: () => clock.both + clock[own] });
  const settings = { operation, lease, onLapse: 'rerun', ...options } as const;
  return {
    clock,
    a: worker(at('a'), settings),
    b: worker(at('b'), settings),
    item: () => table.item(recordId({ operation, scope: 'none', key: 'k' })),
  };
}

const lost = (events: readonly OnceEvent[]): readonly OnceEvent[] =>
  events.filter(({ type }) => type === 'lease-lost');

test('S03: a second attempt with the same awsRequestId takes over; the first one is fenced off', async () => {
  const { a, b, clock, item } = twoWorkers();
  const first = await a.start('k', 'the-same-request');
  clock.both += over;
  const second = await b.start('k', 'the-same-request');
  expect(second.claim).toMatchObject({ attempt: 2 });
  expect(second.claim.fence).toBeGreaterThan(first.claim.fence);
  const before = await item();
  expect(await first.finish('r1')).toMatchObject({ statusCode: 409 });
  expect(lost(a.events)).toMatchObject([{ at: 'complete' }]);
  expect(await item()).toEqual(before);
  expect(await second.finish('r2')).toMatchObject({ statusCode: 201, body: 'r2' });
  expect(await a.ask('k')).toMatchObject({ statusCode: 201, body: 'r2' });
});

test('S04: a slow owner finds the newer outcome: its caller gets that one, the table keeps it', async () => {
  const { a, b, clock, item } = twoWorkers();
  const first = await a.start('k');
  clock.both += over;
  const second = await b.start('k');
  expect(await second.finish('r2')).toMatchObject({ body: 'r2' });
  const before = await item();
  expect(await first.finish('r1')).toMatchObject({
    statusCode: 201,
    body: 'r2',
    headers: { 'Idempotency-Replayed': 'true' },
  });
  expect(lost(a.events)).toMatchObject([{ at: 'complete' }]);
  expect(await item()).toEqual(before);
});

test("S05: a slow owner that throws does not release the new owner's claim", async () => {
  const { a, b, clock, item } = twoWorkers();
  const first = await a.start('k');
  clock.both += over;
  const second = await b.start('k');
  const before = await item();
  expect(await first.fail(new Error('late'))).toMatchObject({ message: 'late' });
  expect(lost(a.events)).toMatchObject([{ at: 'release' }]);
  expect(await item()).toEqual(before);
  expect(await a.ask('k')).toMatchObject({ statusCode: 409, code: 'busy' });
  expect(await second.finish('r2')).toMatchObject({ statusCode: 201, body: 'r2' });
});

test('L04 S10: at lease end plus skew the claim holds, one millisecond later exactly one of ten takes over', async () => {
  const { a, b, clock } = twoWorkers();
  await a.start('k');
  clock.both += over - 1;
  expect(await b.ask('k')).toMatchObject({ statusCode: 409, code: 'busy', headers: { 'Retry-After': '1' } });
  clock.both += 1;
  const ten = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? a : b));
  const all = await Promise.all(ten.map((each) => each.start('k').catch(() => undefined)));
  const runs = all.filter((run) => run !== undefined);
  expect(runs).toHaveLength(1);
  expect(runs[0]?.claim.attempt).toBe(2);
});

test('L05: a clock two seconds ahead steals nothing, nor does one two seconds behind', async () => {
  const { a, b, clock } = twoWorkers();
  const first = await a.start('k');
  clock.both += 9000;
  for (const ahead of [2000, -2000]) {
    clock.b = ahead;
    expect(await b.ask('k')).toMatchObject({ statusCode: 409, code: 'busy' });
  }
  expect(first.claim.signal.aborted).toBe(false);
  expect(await first.finish('r1')).toMatchObject({ statusCode: 201, body: 'r1' });
  for (const ahead of [2000, -2000]) {
    clock.b = ahead;
    expect(await b.ask('k')).toMatchObject({ statusCode: 201, body: 'r1' });
  }
});

test('L05: a clock further ahead than the allowance may rob an owner, who is then fenced', async () => {
  const { a, b, clock } = twoWorkers({ skew: { milliseconds: 0 } });
  const first = await a.start('k');
  clock.both += 9000;
  clock.b = 2000;
  const second = await b.start('k');
  expect(await second.finish('r2')).toMatchObject({ body: 'r2' });
  expect(await first.finish('r1')).toMatchObject({ body: 'r2' });
  expect(lost(a.events)).toHaveLength(1);
});

test('L07: a crash blocks the key for its lease and not for its retention, which counts from the completion', async () => {
  const { a, b, clock, item } = twoWorkers({ retention: { hours: 24 } });
  await a.start('k'); // and never a word again
  clock.both += over;
  const second = await b.start('k');
  clock.both += 5000;
  await second.finish('r2');
  expect(toRecord(await item())?.expiresAt).toBe(Math.ceil(clock.both / 1000) + 24 * 3600);
});

test('L07: a retention shorter than the lease is refused at construction', () => {
  const make = (): unknown =>
    idempotentHttp(async () => undefined, {
      store: table.store(),
      operation: 'contradiction',
      scope: 'none',
      lease: { minutes: 5 },
      retention: { minutes: 5 },
    });
  expect(make).toThrow(/retention.*lease/);
});

test('L06: held, a lapsed claim answers in-doubt until it is decided; its late owner may still decide it', async () => {
  const { a, b, clock, item } = twoWorkers({ onLapse: 'hold' });
  const first = await a.start('k');
  clock.both += over;
  expect(await b.ask('k')).toMatchObject({ statusCode: 409, code: 'in-doubt' });
  expect(toRecord(await item())).toMatchObject({ state: 'in-doubt' });
  expect(await first.finish('r1')).toMatchObject({ statusCode: 201, body: 'r1' });
  expect(await b.ask('k')).toMatchObject({ statusCode: 201, body: 'r1' });
});

test('S07: an expired record of another request, not yet removed, is no obstacle: one put, a fresh run', async () => {
  const { a, b, clock, item } = twoWorkers({ retention: { seconds: 60 } });
  await (await a.start('k')).finish('r1');
  const { fence } = toRecord(await item()) ?? { fence: 0 };
  clock.both += 61_000;
  const second = await b.start('k', 'request-2', 999);
  expect(second.claim).toMatchObject({ attempt: 1 });
  expect(second.claim.fence).toBeGreaterThan(fence);
  expect(b.events).toMatchObject([{ type: 'claimed', from: 'absent' }]);
});
