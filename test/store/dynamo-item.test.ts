import { describe, expect, test } from 'vitest';
import { fingerprintHttp } from '../../src/adapters/http/fingerprint.ts';
import { recordId } from '../../src/domain/identity.ts';
import { idempotentHttp } from '../../src/index.ts';
import { type Item, toItem } from '../../src/store/dynamo/item.ts';
import { claimOn, start } from '../support/contract-records.ts';
import { contextWith, fronts } from '../support/http.ts';
import { freshTable } from '../support/table.ts';

describe('the item of a first claim', () => {
  test('S10: expiresAt is whole seconds, rounded up; the lease is milliseconds', async () => {
    const now = start + 1;
    const item = await firstItem(now);
    // 24 hours from when the claim can lapse: the lease and 3 s of skew allowance
    const lapses = Number(item.leaseUntil?.N) + 3000;
    expect(item.expiresAt).toEqual({ N: String(Math.ceil(lapses / 1000) + 86_400) });
    expect(Number(item.leaseUntil?.N)).toBeGreaterThan(now);
    expect(Number(item.leaseUntil?.N)).toBeLessThanOrEqual(now + 30_000 + 2000);
    expect(item.claimedAt).toEqual({ N: String(now) });
  });

  test('P12: stays under one kilobyte, which is one write unit, with the longest operation', () => {
    const operation = 'o'.repeat(64);
    const identity = { operation, scope: 'tenant '.repeat(40), key: 'k'.repeat(255) };
    const fingerprint = fingerprintHttp(
      {
        method: 'POST',
        path: '/orders',
        query: [['expand', 'customer']],
        body: JSON.stringify({ amount: 1200, currency: 'EUR', note: 'x'.repeat(5000) }),
        isBase64Encoded: false,
        header: () => [],
        answersInMultiValues: false,
      },
      {},
    );
    const item = toItem(claimOn(recordId(identity), { fingerprint, owner: 'o'.repeat(16) }));
    expect(bytesOf(item)).toBeLessThan(600);
  });

  test('S13 H18: neither key nor scope is in the table, in any form that can be read', async () => {
    const text = JSON.stringify(await firstItem(start));
    for (const secret of ['ann@example.com', 'tenant-of-ann', 'private note']) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('base64url'));
      expect(text).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });
});

/** What lies in the table while the first handler runs. */
async function firstItem(now: number): Promise<Item> {
  const table = await freshTable();
  let items: Item[] = [];
  const handler = idempotentHttp(
    async () => {
      items = await table.items();
      return { statusCode: 201 };
    },
    { store: table.store({ now: () => now }), operation: 'place-order', scope: () => 'tenant-of-ann' },
  );
  await handler(fronts.v2({ key: 'ann@example.com', body: { note: 'private note' } }), contextWith());
  expect(items).toHaveLength(1);
  return items[0] as Item;
}

/** As DynamoDB counts: names and texts by their UTF-8 bytes, numbers generously. */
function bytesOf(item: Item): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value.S ?? `${value.N}    `),
    0,
  );
}
