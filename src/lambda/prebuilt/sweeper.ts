import type { LambdaContext } from '../../engine/request.ts';
import { dynamoStore } from '../../store/dynamo/store.ts';
import { sweepHandler } from '../sweep-handler.ts';
import type { SweepReport } from '../sweep-pass.ts';

/** The sweeper for tables whose operations need no question: what the construct `OnceSweeper` deploys by itself. */
export const handler: (event?: unknown, context?: LambdaContext) => Promise<SweepReport> = sweepHandler({
  store: dynamoStore(),
});
