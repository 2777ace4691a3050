import { describe, expect, test } from 'vitest';
import { deriveKey, deriveUuid } from '../../src/domain/derive.ts';
import { idempotent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';

describe('P11: keys for downstreams', () => {
  // these must never change: a retry after a deploy has to send the key that the first attempt sent
  const golden: [string, string, number | undefined, string][] = [
    ['place-order#abc', 'charge', undefined, 'cgxdVv2Q2vNz78Oxgtg_ncZmFQh60zX0C3CAtfGuCow'],
    ['place-order#abc', 'charge', 0, 'Z8W6vLhnmizgRNAhFPMSmyUI_QBRvHpLjjgJ8LzHQrg'],
    ['place-order#abc', 'refund', undefined, 'Ycn1ZbDJHUW2JqXu-mN3LAm-XcwnxURtZwlbRooOnak'],
    ['p', 'é 😀', 12, 'pkuRld0qUT4Qi6SpgOzOL4G1YFEwb17Gov7dsjCxrxc'],
  ];
  test.each(golden)('deriveKey(%s, %s, %s) is what it always was', (parent, name, index, key) => {
    expect(deriveKey(parent, name, index)).toBe(key);
  });

  test('deriveUuid is what it always was, and a valid version 8', () => {
    expect(deriveUuid('place-order#abc', 'order')).toBe('19b39258-c2ed-8e03-ba4a-05c9269c869b');
    expect(deriveUuid('place-order#abc', 'order', 1)).toBe('938ac180-8b0b-8053-b5a9-124f5fb9ef1c');
    expect(deriveUuid('x', 'y')).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  test('different parents, names and indexes never meet, whatever they are made of', () => {
    const parts = ['', 'a', 'b', 'ab', '1:a', 'a1:b', ':', '0'];
    const keys = parts.flatMap((parent) =>
      parts.flatMap((name) => [undefined, 0, 1, 10].map((index) => deriveKey(parent, name, index))),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('the key stays under 64 safe characters however long its parts are', () => {
    expect(deriveKey('x'.repeat(10_000), 'y'.repeat(10_000), 2 ** 53)).toMatch(/^[\w-]{43}$/);
  });

  test('a claim gives the same token in the second attempt, and not the raw key', async () => {
    const tokens: string[] = [];
    const once = idempotent(
      async (_order: { id: string }, claim) => {
        tokens.push(claim.token('charge'), claim.uuid('order'));
        if (claim.attempt === 1) throw new Error('connection reset');
      },
      { store: memoryStore(), operation: 'pay', key: ({ id }) => id },
    );
    await once({ id: 'ada@example.org' }).catch(() => undefined);
    await once({ id: 'ada@example.org' });
    expect(tokens.slice(2)).toEqual(tokens.slice(0, 2));
    expect(tokens.join()).not.toContain('ada');
  });

  test('unprotected runs do not share their tokens', async () => {
    const tokens: string[] = [];
    process.env.LAMBDA_ONCE_DISABLED = '1';
    const once = idempotent(async (_input: object, claim) => tokens.push(claim.token('charge')), {
      store: memoryStore(),
      operation: 'pay',
      key: () => 'k',
    });
    await once({});
    await once({});
    delete process.env.LAMBDA_ONCE_DISABLED;
    expect(tokens[0]).not.toBe(tokens[1]);
  });
});
