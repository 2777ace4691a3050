import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { access } from '../../lib/access.ts';

/** The cells of the first table of the page: role, who, on the table, on the index, without an index. */
const rows: readonly string[][] = readFileSync('docs/permissions.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| `[a-z]+`/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

const listed = (cell = ''): readonly string[] =>
  [...cell.matchAll(/`(\w+)`/g)].map(([, action = '']) => `dynamodb:${action}`);

test('docs/permissions.md lists every role with exactly its actions', () => {
  const page = rows.map(([, role = '', , table, index, scan]) => [
    role.replaceAll('`', ''),
    { table: listed(table), index: listed(index), scan: listed(scan) },
  ]);
  const granted = Object.entries(access).map(([role, { table, lists }]) => [
    role,
    { table, index: lists ? ['dynamodb:Query'] : [], scan: lists ? ['dynamodb:Scan'] : [] },
  ]);
  expect(Object.fromEntries(page)).toEqual(Object.fromEntries(granted));
});
