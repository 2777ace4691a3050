import { expect, test } from 'vitest';
import {
  aimedAt,
  claimOn,
  ended,
  limits,
  recordIn,
  type Subject,
  start,
  states,
} from './contract-records.ts';

/** Which record is past its retention, to the second, and what that means. */
export function expiryContract(subject: Subject): void {
  claims(subject);
  owners(subject);

  test('a completed record keeps its fence, owner and attempt; a forgotten release drops the fingerprint', async () => {
    const { store, put, get } = await subject();
    const [done, freed, forgotten] = [recordIn('claimed'), recordIn('claimed'), recordIn('claimed')];
    for (const record of [done, freed, forgotten]) await put(record);
    await store.write({ kind: 'complete', held: done, outcome: '1v"mine"', ...ended }, limits);
    await store.write({ kind: 'release', held: freed, forget: false, ...ended }, limits);
    await store.write({ kind: 'release', held: forgotten, forget: true, ...ended }, limits);
    expect(await get(done.id)).toEqual({ ...done, ...ended, state: 'completed', outcome: '1v"mine"' });
    expect(await get(freed.id)).toEqual({ ...freed, ...ended, state: 'released' });
    const { fingerprint: _fingerprint, ...unbound } = forgotten;
    expect(await get(forgotten.id)).toEqual({ ...unbound, ...ended, state: 'released' });
  });

  test('a take-over leaves nothing of how the former claim ended', async () => {
    const { store, put, get } = await subject();
    const resolved = recordIn('released', {
      resolvedBy: 'sweeper',
      resolvedWhy: 'absent',
      outcome: '1v"old"',
    });
    await put(resolved);
    const record = claimOn(resolved.id);
    await store.write({ kind: 'take-over', seen: resolved, record }, limits);
    expect(await get(resolved.id)).toEqual(record);
  });
}

function claims(subject: Subject): void {
  const boundary = [
    ['one second before', 1, 0, 'refused'],
    ['in the last millisecond before', 1, 999, 'refused'],
    ['exactly at', 0, 0, 'applied'],
    ['after', -1, 0, 'applied'],
  ] as const;
  for (const state of ['claimed', 'completed', 'released'] as const) {
    test.each(boundary)(
      `S07 S10 L04: a claim %s the end of a ${state} record's retention`,
      async (_when, seconds, milliseconds, kind) => {
        const { store, put, get } = await subject();
        const record = recordIn(state, {
          expiresAt: start / 1000 + seconds,
          fingerprint: '1:another meaning',
        });
        await put(record);
        const fresh = claimOn(record.id, { claimedAt: start + milliseconds });
        const now = start + milliseconds;
        const written = await store.write({ kind: 'claim', now, record: fresh }, limits);
        expect(written).toEqual(kind === 'applied' ? { kind } : { kind, record });
        // a put and not an update: nothing of the life before is left
        expect(await get(record.id)).toEqual(kind === 'applied' ? fresh : record);
      },
    );
  }

  test('S07: the fence grows over expiry: a claim whose fence is not greater is refused', async () => {
    const { store, put, get } = await subject();
    const record = recordIn('completed', { expiresAt: start / 1000 - 1, fence: 11 });
    await put(record);
    const attempt = (fence: number): ReturnType<typeof store.write> =>
      store.write({ kind: 'claim', now: start, record: claimOn(record.id, { fence }) }, limits);
    expect(await attempt(10)).toEqual({ kind: 'refused', record });
    expect(await attempt(11)).toEqual({ kind: 'refused', record });
    expect(await get(record.id)).toEqual(record);
    expect(await attempt(12)).toEqual({ kind: 'applied' });
  });

  test('a record in doubt never expires: however old, no claim takes it for absent', async () => {
    const { store, put, get } = await subject();
    const record = recordIn('in-doubt', { expiresAt: 1 });
    await put(record);
    expect(await store.write(aimedAt(record).claim, limits)).toEqual({ kind: 'refused', record });
    expect(await get(record.id)).toEqual(record);
  });
}

function owners(subject: Subject): void {
  test.each(states)(
    'an expired %s record that nobody replaced still obeys its owner alone',
    async (state) => {
      const { store, put } = await subject();
      const record = recordIn(state, { expiresAt: start / 1000 - 1 });
      await put(record);
      const late = await store.write(aimedAt(record).complete, limits);
      expect(late.kind).toBe(state === 'claimed' || state === 'in-doubt' ? 'applied' : 'refused');
    },
  );
}
