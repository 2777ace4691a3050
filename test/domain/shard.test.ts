import { expect, test } from 'vitest';
import { recordId } from '../../src/domain/identity.ts';
import { shardOf, shards } from '../../src/domain/shard.ts';
import { sweepIndex } from '../../src/names.ts';

const ids = (operation: string, count: number): string[] =>
  Array.from({ length: count }, (_, key) => recordId({ operation, scope: 'none', key: `order-${key}` }));

test('there are as many shards as the index says, and every id is in one of them', () => {
  expect(shards).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  expect(shards).toHaveLength(sweepIndex.shards);
  for (const id of [...ids('pay', 500), '', 'x', 'no#digest']) expect(shards).toContain(shardOf(id));
});

test('an id stays where it is: what one version wrote the next one lists', () => {
  const places = ids('pay', 6).map(shardOf);
  expect(ids('pay', 6).map(shardOf)).toEqual(places);
  expect([
    shardOf('pay#AAAAAAAAAAAAAAAA'),
    shardOf('pay#AAAAAAAACAAAAAAA'),
    shardOf('pay#AAAAAAAA____AAAA'),
  ]).toEqual(['0', '0', '7']);
});

test.each(['pay', 'ship-order', 'a'])(
  'keys in a row of operation %s spread evenly over the shards',
  (operation) => {
    const count = 8000;
    const counts = new Map<string, number>();
    for (const id of ids(operation, count)) counts.set(shardOf(id), (counts.get(shardOf(id)) ?? 0) + 1);
    // a thousand each; five standard deviations of a fair draw are 148
    for (const shard of shards) expect(Math.abs((counts.get(shard) ?? 0) - count / 8)).toBeLessThan(148);
  },
);
