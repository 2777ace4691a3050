import { expect, test } from 'vitest';
import { conditionalWrite } from '../../src/index.ts';
import { freshTable } from '../support/table.ts';

/** Sets a version of an item, if it is still the one before. */
async function versions(shape: 'plain' | 'wire') {
  const { client, tableName } = await freshTable();
  const value = (given: string | number) =>
    shape === 'plain' ? given : typeof given === 'number' ? { N: String(given) } : { S: given };
  const write = (by: string, from: number, to: number) =>
    conditionalWrite({
      client,
      write: {
        Update: {
          TableName: tableName,
          Key: { id: value('stock') },
          UpdateExpression: 'SET version = :to, setBy = :by',
          ConditionExpression: 'attribute_not_exists(id) OR version = :from',
          ExpressionAttributeValues: { ':from': value(from), ':to': value(to), ':by': value(by) },
        },
      },
      isApplied: (item) =>
        JSON.stringify(item?.version) === JSON.stringify(value(to)) &&
        JSON.stringify(item?.setBy) === JSON.stringify(value(by)),
    });
  return { write, value };
}

test.each(['plain', 'wire'] as const)(
  '%s: applied; the same again is already applied; another one conflicts',
  async (shape) => {
    const { write, value } = await versions(shape);
    expect(await write('ann', 0, 1)).toEqual({ kind: 'applied' });
    expect(await write('ann', 0, 1)).toMatchObject({ kind: 'already-applied', item: { version: value(1) } });
    expect(await write('bob', 0, 1)).toMatchObject({ kind: 'conflicted', item: { setBy: value('ann') } });
    expect(await write('bob', 1, 2)).toEqual({ kind: 'applied' });
  },
);

test('a write without a condition is refused, and other errors pass through', async () => {
  const { client, tableName } = await freshTable();
  const put = (TableName: string, more: object = {}) =>
    conditionalWrite({
      client,
      write: { Put: { TableName, Item: { id: 'a' }, ...more } },
      isApplied: () => true,
    });
  await expect(put(tableName)).rejects.toMatchObject({
    code: 'input-invalid',
    message: expect.stringContaining('ConditionExpression'),
  });
  await expect(put('nowhere', { ConditionExpression: 'attribute_not_exists(id)' })).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  });
});
