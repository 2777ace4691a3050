import { describe, expect, test } from 'vitest';
import { toMilliseconds } from '../../src/domain/duration.ts';

describe('P14: durations', () => {
  test.each([
    [{ milliseconds: 0 }, 0],
    [{ milliseconds: 1 }, 1],
    [{ seconds: 1 }, 1000],
    [{ minutes: 1 }, 60_000],
    [{ hours: 1 }, 3_600_000],
    [{ days: 1 }, 86_400_000],
    [{ hours: 1, minutes: 30 }, 5_400_000],
    [{ days: 1, hours: 1, minutes: 1, seconds: 1, milliseconds: 1 }, 90_061_001],
    [{ hours: 0.5 }, 1_800_000],
    [{ milliseconds: 0.1 }, 1],
    [{ milliseconds: 1.5 }, 2],
    [{ seconds: 0.0001 }, 1],
  ])('%j is %d ms, its fields added up and rounded up', (duration, expected) => {
    expect(toMilliseconds(duration)).toBe(expected);
  });

  test.each([
    ['a bare number', 3600],
    ['a text', '1h'],
    ['a text in a field', { hours: '1' }],
    ['null', null],
    ['undefined', undefined],
    ['true', true],
    ['a function', () => 1],
    ['a list', [1]],
    ['nothing in it', {}],
    ['a Date', new Date()],
    ['an unknown unit', { weeks: 1 }],
    ['a singular unit', { hour: 1 }],
    ['an unknown unit beside a known one', { hours: 1, Minutes: 1 }],
    ['an inherited name', { toString: 1 }],
    ['`__proto__`', JSON.parse('{"__proto__":1}')],
    ['NaN', { hours: Number.NaN }],
    ['Infinity', { hours: Number.POSITIVE_INFINITY }],
    ['a negative', { hours: -1 }],
    ['a negative that a positive outweighs', { hours: 1, minutes: -1 }],
    ['an undefined field', { hours: undefined }],
    ['a bigint', { hours: 1n }],
  ])('%s is none', (_name, given) => {
    expect(toMilliseconds(given)).toBeUndefined();
  });
});
