import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  expirySeconds,
  expiryThreshold,
  isExpired,
  isLapsed,
  type Judgement,
  judge,
  nextFence,
  type OnceRecord,
  type State,
} from '../../src/domain/record.ts';

const skew = 3000;
const lease = 1_000_500;
const record = (parts: Partial<OnceRecord> = {}): OnceRecord => ({
  id: 'place#digest',
  state: 'claimed',
  owner: 'a',
  fence: 1,
  attempt: 1,
  fingerprint: '1:same',
  claimedAt: 1_000_000,
  leaseUntil: lease,
  expiresAt: 2000,
  ...parts,
});
const judged = (
  parts: Partial<OnceRecord>,
  now = 1_000_000,
  fingerprint: string | undefined = '1:same',
): Judgement => judge(record(parts), { fingerprint, now, skew });

const states: State[] = ['claimed', 'completed', 'released', 'in-doubt'];

describe('L04 S10: expired', () => {
  test('S10: whole seconds, rounded up, so an outcome never dies early', () => {
    expect([1_999_000, 1_999_001, 1_999_999, 2_000_000].map(expirySeconds)).toEqual([1999, 2000, 2000, 2000]);
    expect([1_999_000, 1_999_999, 2_000_000].map(expiryThreshold)).toEqual([1999, 1999, 2000]);
    fc.assert(
      fc.property(fc.nat(4e12), (ends) => {
        const expiresAt = expirySeconds(ends);
        expect(Number.isSafeInteger(expiresAt)).toBe(true);
        expect(isExpired(record({ expiresAt }), ends - 1)).toBe(false);
        expect(isExpired(record({ expiresAt }), ends + 999)).toBe(true);
      }),
    );
  });

  test.each(states.filter((state) => state !== 'in-doubt'))('L04 S07: %s, to the millisecond', (state) => {
    const [before, at, after] = [1_999_999, 2_000_000, 2_000_001].map((now) => judged({ state }, now));
    expect(before).not.toBe('absent');
    expect([at, after]).toEqual(['absent', 'absent']);
  });

  test('in-doubt does not expire', () => {
    expect(isExpired(record({ state: 'in-doubt' }), 9e12)).toBe(false);
    expect(judged({ state: 'in-doubt' }, 9e12)).toBe('in-doubt');
  });

  test('L04: the condition and the code agree at every millisecond', () => {
    fc.assert(
      fc.property(fc.nat(10), fc.nat(10_000), (expiresAt, now) => {
        expect(isExpired(record({ expiresAt }), now)).toBe(expiresAt <= expiryThreshold(now));
        expect(isExpired(record({ expiresAt }), now)).toBe(expiresAt * 1000 <= now);
      }),
    );
  });
});

describe('L04 L05: lapsed', () => {
  test.each([
    [lease - 1, 'busy'],
    [lease, 'busy'],
    [lease + 1, 'busy'],
    [lease + skew - 1, 'busy'],
    [lease + skew, 'busy'],
    [lease + skew + 1, 'lapsed'],
  ] as const)('L04 L05: at %d the claim is %s', (now, expected) => {
    expect(judged({}, now)).toBe(expected);
    expect(isLapsed(record(), now, skew)).toBe(expected === 'lapsed');
  });

  test('without an allowance one millisecond after the lease', () => {
    expect(isLapsed(record(), lease, 0)).toBe(false);
    expect(isLapsed(record(), lease + 1, 0)).toBe(true);
  });

  test.each(states.filter((state) => state !== 'claimed'))('%s never lapses', (state) => {
    expect(isLapsed(record({ state }), 9e12, 0)).toBe(false);
  });
});

describe('what a newcomer finds', () => {
  test.each([
    ['claimed', 'busy'],
    ['completed', 'replay'],
    ['released', 'free'],
    ['in-doubt', 'in-doubt'],
  ] as const)('H06: %s is %s, but with another fingerprint a mismatch', (state, expected) => {
    expect(judged({ state })).toBe(expected);
    expect(judged({ state }, 1_000_000, '1:other')).toBe('mismatch');
  });

  test('H06: mismatch beats lapsed, retention beats mismatch', () => {
    expect(judged({}, lease + skew + 1, '1:other')).toBe('mismatch');
    expect(judged({ state: 'completed' }, 2_000_000, '1:other')).toBe('absent');
    expect(judged({ state: 'in-doubt' }, 2_000_000, '1:other')).toBe('mismatch');
  });

  test('nothing is absent', () => {
    expect(judge(undefined, { fingerprint: '1:same', now: 0, skew })).toBe('absent');
  });

  test.each([
    ['1:a', '1:a', false],
    ['1:a', '1:b', true],
    ['1:a', '2:b', false],
    ['2:a', '1:b', false],
    ['11:a', '1:b', false],
    [undefined, '1:a', false],
    ['1:a', undefined, false],
    [undefined, undefined, false],
  ])('P03 H06: stored %s, given %s: mismatch %s', (stored, given, isMismatch) => {
    const { fingerprint: _fingerprint, ...without } = record({ state: 'completed' });
    const found = stored === undefined ? without : { ...without, fingerprint: stored };
    expect(judge(found, { fingerprint: given, now: 1_000_000, skew })).toBe(
      isMismatch ? 'mismatch' : 'replay',
    );
  });
});

test('S03: a fence only grows, over clocks that run back and over expiry', () => {
  expect([nextFence(100, 5), nextFence(100, 100), nextFence(100, 7000), nextFence(100, 99)]).toEqual([
    100, 101, 7001, 100,
  ]);
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (now, previous) => {
      expect(nextFence(now, previous)).toBeGreaterThan(previous);
      expect(nextFence(now, previous)).toBeGreaterThanOrEqual(now);
    }),
  );
});
