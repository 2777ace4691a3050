import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { recordId } from '../../src/domain/identity.ts';
import type { OnceRecord, State } from '../../src/domain/record.ts';
import { limits, recordIn, type StoreUnderTest, type Subject, start } from './contract-records.ts';

/** The skew that inspection allows, like the engine's default. */
const skew = 3000;
const decision = { by: 'ops', why: 'the bank says so' };

/** `lookup` and `resolve`, the two ways for people and programs. */
export function inspectContract(subject: Subject): void {
  lookups(subject);
  refusals(subject);
  decisions(subject);
}

/** A record that somebody can ask for. */
async function known(
  { put }: StoreUnderTest,
  state: State,
  parts: Partial<OnceRecord> = {},
): Promise<{ query: { operation: string; scope: string; key: string }; record: OnceRecord }> {
  const query = { operation: 'contract', scope: 'tenant-1', key: randomUUID() };
  const record = recordIn(state, { id: recordId(query), ...parts });
  await put(record);
  return { query, record };
}

function lookups(subject: Subject): void {
  test('S17: a lookup right after a claim sees it, and knows nothing of other scopes', async () => {
    const { store } = await subject();
    const query = { operation: 'contract', scope: 'tenant-1', key: randomUUID() };
    expect(await store.lookup(query)).toBeUndefined();
    const record = {
      ...recordIn('claimed', { leaseUntil: start + 1000 }),
      id: recordId(query),
      state: 'claimed',
    } as const;
    await store.write({ kind: 'claim', now: start, record }, limits);
    expect(await store.lookup(query)).toMatchObject({
      id: record.id,
      state: 'claimed',
      fence: 10,
      attempt: 1,
    });
    expect(await store.lookup({ ...query, scope: 'tenant-2' })).toBeUndefined();
  });

  test('S07: past its retention a record is not there, unless it is in doubt', async () => {
    const under = await subject();
    const expiresAt = start / 1000;
    for (const state of ['claimed', 'completed', 'released'] as const) {
      const { query } = await known(under, state, { expiresAt });
      under.clock.now = start - 1;
      expect(await under.store.lookup(query), state).toBeDefined();
      under.clock.now = start;
      expect(await under.store.lookup(query), state).toBeUndefined();
    }
    const { query } = await known(under, 'in-doubt', { expiresAt });
    expect(await under.store.lookup(query)).toMatchObject({ state: 'in-doubt' });
  });

  test('L04: a claim is lapsed one millisecond after lease and skew, not at it', async () => {
    const under = await subject();
    const { query } = await known(under, 'claimed', { leaseUntil: start });
    under.clock.now = start + skew;
    expect(await under.store.lookup(query)).toMatchObject({ state: 'claimed', leaseUntil: new Date(start) });
    under.clock.now = start + skew + 1;
    expect(await under.store.lookup(query)).toMatchObject({ state: 'lapsed' });
  });

  test('H18: the answer is told only to those who ask for it', async () => {
    const under = await subject();
    const { query } = await known(under, 'completed');
    expect(await under.store.lookup(query)).not.toHaveProperty('outcome');
    const asked = await under.store.lookup({ ...query, withOutcome: true });
    expect(asked?.outcome).toEqual({ kind: 'value', value: 'first' });
    const refused = await known(under, 'completed', { outcome: '1r{"name":"Declined","message":"no"}' });
    expect(await under.store.lookup(refused.query)).toMatchObject({ state: 'rejected' });
  });
}

function refusals(subject: Subject): void {
  test('resolving a live claim is busy, an ended one already applied, an unknown one lease lost', async () => {
    const under = await subject();
    const resolve = (query: object): Promise<unknown> =>
      under.store.resolve({
        ...(query as { operation: string; scope: string; key: string }),
        ...decision,
        as: 'released',
      });
    const live = await known(under, 'claimed', { leaseUntil: start - skew });
    await expect(resolve(live.query)).rejects.toMatchObject({ code: 'busy', id: live.record.id });
    for (const state of ['completed', 'released'] as const) {
      const { query } = await known(under, state);
      await expect(resolve(query), state).rejects.toMatchObject({ code: 'already-applied' });
    }
    await expect(resolve({ ...live.query, key: randomUUID() })).rejects.toMatchObject({ code: 'lease-lost' });
  });

  test('resolving with a fence that no longer holds is lease lost and changes nothing', async () => {
    const under = await subject();
    const { query, record } = await known(under, 'in-doubt');
    const attempt = under.store.resolve({ ...query, ...decision, as: 'completed', value: 1, fence: 9 });
    await expect(attempt).rejects.toMatchObject({ code: 'lease-lost' });
    expect(await under.get(record.id)).toEqual(record);
  });

  test('W02: of two people who resolve at once one decides, the other is told that it changed', async () => {
    const under = await subject();
    const { query } = await known(under, 'in-doubt');
    const both = await Promise.allSettled(
      ['yes', 'no'].map((value) => under.store.resolve({ ...query, ...decision, as: 'completed', value })),
    );
    const winner = both.findIndex(({ status }) => status === 'fulfilled');
    const loser = both[1 - winner] as PromiseRejectedResult;
    expect(['lease-lost', 'already-applied']).toContain((loser.reason as { code: string }).code);
    const standing = await under.store.lookup({ ...query, withOutcome: true });
    expect(standing?.outcome).toEqual({ kind: 'value', value: ['yes', 'no'][winner] });
  });
}

function decisions(subject: Subject): void {
  test.each(['claimed', 'in-doubt'] as const)(
    'a resolved %s record shuts its late owner out',
    async (state) => {
      const under = await subject();
      const { query, record } = await known(under, state);
      const retention = { hours: 1 };
      const resolved = await under.store.resolve({
        ...query,
        ...decision,
        as: 'completed',
        value: 'found',
        retention,
      });
      expect(resolved).toMatchObject({ state: 'completed', resolvedBy: 'ops', resolvedWhy: decision.why });
      expect(resolved.fence).toBeGreaterThan(record.fence);
      expect(resolved.outcome).toEqual({ kind: 'value', value: 'found' });
      expect(resolved.expiresAt).toEqual(new Date(start + 3_600_000));
      const standing = await under.get(record.id);
      const late = { held: record, endedAt: start, expiresAt: record.expiresAt };
      for (const transition of [
        { kind: 'complete', outcome: '1v"late"', ...late },
        { kind: 'release', forget: false, ...late },
      ] as const) {
        expect(await under.store.write(transition, limits)).toEqual({ kind: 'refused', record: standing });
      }
      expect(await under.get(record.id)).toEqual(standing);
    },
  );

  test('a record resolved as rejected says so; as released it is free', async () => {
    const under = await subject();
    const [no, free] = [await known(under, 'in-doubt'), await known(under, 'in-doubt')];
    const rejection = { name: 'Declined', message: 'no funds', status: 402 };
    const refused = await under.store.resolve({ ...no.query, ...decision, as: 'rejected', rejection });
    expect(refused).toMatchObject({ state: 'rejected', outcome: { kind: 'rejection', rejection } });
    expect(await under.store.resolve({ ...free.query, ...decision, as: 'released' })).toMatchObject({
      state: 'released',
    });
  });
}
