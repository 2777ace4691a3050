import { describe, expect, vi } from 'vitest';
import { defineEffect } from '../../src/index.ts';
import { orders, transactional as test } from '../support/orders.ts';

const order = { id: 'o-1' };

describe('a commit', () => {
  test('writes the outcome and the business in one, and replays', async () => {
    const { wrap, put, record, orders: count } = await orders();
    const run = vi.fn();
    const place = wrap((claim) => {
      run();
      return claim.commit({ placed: 1 }, [put('o-1')]);
    });
    expect(await place(order)).toEqual({ placed: 1 });
    expect(await place(order)).toEqual({ placed: 1 });
    expect(run).toHaveBeenCalledTimes(1);
    expect(await count()).toBe(1);
    expect(await record()).toMatchObject({ state: 'completed', outcome: '1v{"placed":1}' });
    expect((await record())?.dueAt).toBeUndefined();
  });

  test('takes every kind of action, in plain values and in those of the wire', async () => {
    const { wrap, put, business, orders: count } = await orders();
    await business.client.send(await putCommand(business.tableName, 'old'));
    await business.client.send(await putCommand(business.tableName, 'gone'));
    const TableName = business.tableName;
    const place = wrap((claim) =>
      claim.commit('done', [
        put('plain'),
        { Put: { TableName, Item: { id: { S: 'wire' }, amount: { N: '3' } } } },
        {
          Update: {
            TableName,
            Key: { id: 'old' },
            UpdateExpression: 'SET amount = :amount',
            ExpressionAttributeValues: { ':amount': 99 },
          },
        },
        { Delete: { TableName, Key: { id: { S: 'gone' } } } },
        {
          ConditionCheck: {
            TableName,
            Key: { id: 'never' },
            ConditionExpression: 'attribute_not_exists(id)',
          },
        },
      ]),
    );
    expect(await place(order)).toBe('done');
    expect(await count()).toBe(3);
    expect(await business.item('old')).toMatchObject({ amount: { N: '99' } });
    expect(await business.item('wire')).toMatchObject({ amount: { N: '3' } });
  });

  test('S23: no writes at all are a normal completion', async () => {
    const { wrap, record } = await orders();
    expect(await wrap((claim) => claim.commit(7, []))(order)).toBe(7);
    expect(await record()).toMatchObject({ state: 'completed' });
  });

  test('a result of nothing is a result', async () => {
    const { wrap } = await orders();
    const place = wrap((claim) => claim.commit(undefined, []));
    expect([await place(order), await place(order)]).toEqual([undefined, undefined]);
  });

  test.each([
    ['plain', (id: string) => ({ id })],
    ['wire', (id: string) => ({ id: { S: id } })],
  ])(
    "S21: a condition of the caller's own (%s): its index and item, nothing written, and another commit may follow",
    async (_shape, key) => {
      const { wrap, put, business, record, orders: count } = await orders();
      await business.client.send(await putCommand(business.tableName, 'taken'));
      const Item = key('taken');
      const clash = {
        Put: {
          TableName: business.tableName,
          Item,
          ConditionExpression: 'attribute_not_exists(id)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
        },
      };
      const place = wrap(async (claim) => {
        const refused = await claim.commit('placed', [put('o-1'), clash]).catch((error: unknown) => error);
        expect(refused).toMatchObject({ name: 'CommitRefused', index: 1, reason: 'ConditionalCheckFailed' });
        expect((refused as { item: object }).item).toMatchObject(Item);
        expect(JSON.stringify(refused)).not.toContain('taken');
        expect(await count()).toBe(1);
        expect(await record()).toMatchObject({ state: 'claimed' });
        return claim.commit('sold out', []);
      });
      expect(await place(order)).toBe('sold out');
      expect(await place(order)).toBe('sold out');
    },
  );

  test.each<[string, (table: string, id: string) => unknown[], RegExp]>([
    [
      'S23: 100 actions',
      (TableName) =>
        Array.from({ length: 100 }, (_, index) => ({ Put: { TableName, Item: { id: `${index}` } } })),
      /at most 99/,
    ],
    [
      '4 MB',
      (TableName) =>
        Array.from({ length: 12 }, (_, index) => ({
          Put: { TableName, Item: { id: `${index}`, text: 'x'.repeat(390_000) } },
        })),
      /4194304/,
    ],
    [
      'S23: an action on the own record',
      (_table, id) => [{ Delete: { TableName: 'ONCE', Key: { id } } }],
      /writes\[0\] is on the operation's own record/,
    ],
    [
      'the same by the ARN of the table',
      (_table, id) => [{ Delete: { TableName: 'arn:aws:dynamodb:eu-west-1:1:table/ONCE', Key: { id } } }],
      /own record/,
    ],
    ['no action', () => [{}], /writes\[0\] must have exactly one of/],
    [
      'two actions in one',
      (TableName) => [{ Put: { TableName, Item: { id: 'a' } }, Delete: { TableName, Key: { id: 'a' } } }],
      /exactly one of/,
    ],
    ['an unknown action', (TableName) => [{ Insert: { TableName } }], /exactly one of/],
    ['no table', () => [{ Put: { Item: { id: 'a' } } }], /needs a TableName/],
    ['no item', (TableName) => [{ Put: { TableName } }], /needs an Item/],
    ['no key', (TableName) => [{ Delete: { TableName } }], /needs a Key/],
    [
      'a value without a type',
      (TableName) => [{ Put: { TableName, Item: { id: 'a', at: undefined } } }],
      /writes\[0\] holds a value/,
    ],
    ['no list', () => 'writes' as unknown as unknown[], /must be a list/],
  ])('%s is refused before anything is sent', async (_name, writes, message) => {
    const { wrap, business, once, record } = await orders();
    const place = wrap((claim) => {
      const given = JSON.parse(
        JSON.stringify(writes(business.tableName, claim.id)).replaceAll('ONCE', once.tableName),
      );
      const exact = _name === 'a value without a type' ? writes(business.tableName, claim.id) : given;
      return claim.commit('placed', exact);
    });
    await expect(place(order)).rejects.toMatchObject({
      code: 'input-invalid',
      message: expect.stringMatching(message),
    });
    expect(await record()).toMatchObject({ state: 'released' });
    expect(await business.items()).toEqual([]);
  });

  test('99 actions go', async () => {
    const { wrap, put, orders: count } = await orders();
    const writes = Array.from({ length: 99 }, (_, index) => put(`o-${index}`));
    expect(await wrap((claim) => claim.commit('all', writes))(order)).toBe('all');
    expect(await count()).toBe(99);
  });

  test.each([
    ['a 5xx', { statusCode: 503 }, /503 is no outcome/],
    ['NaN', Number.NaN, /cannot be stored/],
    ['a Map', new Map(), /cannot be stored/],
  ])('%s is no response to commit', async (_name, response, message) => {
    const { wrap, put, orders: count } = await orders();
    const place = wrap((claim) => claim.commit(response, [put('o-1')]));
    await expect(place(order)).rejects.toMatchObject({
      code: 'input-invalid',
      message: expect.stringMatching(message),
    });
    expect(await count()).toBe(0);
  });

  test('rule 6: over an open effect nothing is committed', async () => {
    const { wrap, put, record, orders: count } = await orders();
    const charge = defineEffect({
      name: 'commit-charge',
      run: () => Promise.reject(new Error('no answer')),
      reconcile: () => 'unknown' as const,
    });
    const place = wrap(async (claim) => {
      await claim.perform(charge, {}).catch(() => undefined);
      return claim.commit('placed', [put('o-1')]);
    });
    await expect(place(order)).rejects.toMatchObject({ code: 'in-doubt' });
    expect(await count()).toBe(0);
    expect(await record()).toMatchObject({ state: 'in-doubt' });
  });

  test('a second commit is refused; what was committed stands', async () => {
    const { wrap, put, orders: count } = await orders();
    const place = wrap(async (claim) => {
      await claim.commit('first', [put('o-1')]);
      return claim.commit('second', [put('o-2')]);
    });
    expect(await place(order)).toBe('first');
    expect(await count()).toBe(1);
  });

  test('a handler that throws after its commit changes nothing: its caller gets what was committed', async () => {
    const { wrap, put } = await orders();
    const place = wrap(async (claim) => {
      await claim.commit('placed', [put('o-1')]);
      throw new Error('the log is full');
    });
    expect([await place(order), await place(order)]).toEqual(['placed', 'placed']);
  });

  test('a handler that returns something else: what left is what replays', async () => {
    const { wrap, put } = await orders();
    const place = wrap(async (claim) => {
      await claim.commit('placed', [put('o-1')]);
      return 'placed, with a smile';
    });
    expect([await place(order), await place(order)]).toEqual([
      'placed, with a smile',
      'placed, with a smile',
    ]);
  });
});

async function putCommand(TableName: string, id: string) {
  const { PutItemCommand } = await import('@aws-sdk/client-dynamodb');
  return new PutItemCommand({ TableName, Item: { id: { S: id }, amount: { N: '1' } } });
}
