import { dynamoStore, type HttpEvent, type HttpOptions, idempotentHttp } from '../../src/index.ts';
import { contextWith, fronts } from './http.ts';

/** What the worker of the kill test is told. */
export interface KillOrder {
  readonly endpoint: string;
  readonly tableName: string;
}

/** Handlers of both sides are made here, so that they are one operation. */
export function killedOperation(
  order: KillOrder,
  onLapse: 'hold' | 'rerun',
  work: () => Promise<unknown>,
): (key: string) => Promise<{ statusCode: number; body: string }> {
  const options: HttpOptions<HttpEvent, unknown, { statusCode: number; body: string }> = {
    store: dynamoStore({ ...order, region: 'us-east-1' }),
    operation: 'killed',
    scope: 'none',
    onLapse,
    lease: { milliseconds: 600 },
    skew: { milliseconds: 0 },
    retention: { hours: 24 },
  };
  const handler = idempotentHttp<HttpEvent, unknown, { statusCode: number; body: string }>(
    async (_event, _context, { attempt }) => {
      await work();
      return { statusCode: 201, body: `attempt ${attempt}` };
    },
    options,
  );
  return async (key) =>
    (await handler(fronts.v2({ key, body: { amount: 1 } }), contextWith())) as {
      statusCode: number;
      body: string;
    };
}
