import { dynamoStore, idempotent, type Store } from '../../src/index.ts';

/** Where a process dies: `before`, nothing has been sent; `after`, it has landed and the reply is on its way. */
export interface CommitOrder {
  readonly endpoint: string;
  readonly once: string;
  readonly business: string;
  readonly claim: 'first' | 'at-commit';
  readonly dies: 'before' | 'after' | undefined;
}

/** The operation of both sides: it books two items, or none. */
export function booking(
  { endpoint, once, business, claim }: CommitOrder,
  wrap: (store: Store) => Store,
): () => Promise<unknown> {
  const book = idempotent(
    async ({ id }: { id: string }, held) => {
      const put = (name: string) => ({
        Put: { TableName: business, Item: { id: `${id}-${name}-${held.attempt}` } },
      });
      return held.commit(`attempt ${held.attempt}`, [put('debit'), put('credit')]);
    },
    {
      store: wrap(dynamoStore({ endpoint, tableName: once, region: 'us-east-1' })),
      operation: 'book',
      key: ({ id }) => id,
      claim,
      lease: { milliseconds: 600 },
      skew: { milliseconds: 0 },
      onLapse: 'rerun',
    },
  );
  return () => book({ id: 'b' });
}
