import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Claim,
  type HttpEvent,
  type HttpOptions,
  idempotentHttp,
  type OnceEvent,
  type Store,
} from '../../src/index.ts';
import { fronts } from './http.ts';

/** What the caller of a delivery gets. */
export interface Answer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A handler that is in the middle of its work, until the test says how it ends. */
export interface Run {
  readonly claim: Claim;
  /** The handler answers; what its caller gets. */
  finish(body: string): Promise<Answer>;
  /** The handler throws; the error that its caller gets. */
  fail(error: Error): Promise<unknown>;
}

/** One process: a store of its own, with a clock of its own. */
export interface Worker {
  readonly events: OnceEvent[];
  /** A delivery that is expected to run. */
  start(key: string, requestId?: string, amount?: number): Promise<Run>;
  /** A delivery that is expected to be answered without running. */
  ask(key: string): Promise<Answer & { readonly code: string | undefined }>;
}

type Options = Partial<HttpOptions<HttpEvent, Context, { statusCode: number; body: string }>>;
interface Ending {
  readonly claim: Claim;
  readonly resolve: (answer: { statusCode: number; body: string }) => void;
  readonly reject: (error: Error) => void;
}

/** The Lambda context of one delivery, which here also tells its own test that the handler began. */
interface Context {
  readonly awsRequestId: string;
  readonly begun: (ending: Ending) => void;
  getRemainingTimeInMillis(): number;
}
const getRemainingTimeInMillis = (): number => 10_000;

/** Invocations share no call chain, whoever starts them. */
const ownChain = AsyncLocalStorage.snapshot();

/** A worker of an operation. */
export function worker(store: Store, options: Options & { readonly operation: string }): Worker {
  const events: OnceEvent[] = [];
  const handler = idempotentHttp<HttpEvent, Context, { statusCode: number; body: string }>(
    (_event, { begun }, claim) => new Promise((resolve, reject) => begun({ claim, resolve, reject })),
    { store, scope: 'none', observe: (event) => events.push(event), ...options },
  );
  const deliver = (key: string, context: Context, amount: number): Promise<Answer> =>
    ownChain(() => handler(fronts.v2({ key, body: { amount } }), context)) as Promise<Answer>;
  return {
    events,
    async start(key, awsRequestId = 'request-1', amount = 1) {
      const { promise, resolve: begun } = Promise.withResolvers<Ending>();
      const answer = deliver(key, { awsRequestId, begun, getRemainingTimeInMillis }, amount);
      const early = answer.then((given) => {
        throw new Error(`answered without running: ${JSON.stringify(given)}`);
      });
      const { claim, resolve, reject } = await Promise.race([early, promise]);
      early.catch(() => undefined);
      return {
        claim,
        finish(body) {
          resolve({ statusCode: 201, body });
          return answer;
        },
        async fail(error) {
          reject(error);
          return answer.catch((thrown: unknown) => thrown);
        },
      };
    },
    async ask(key) {
      const begun = (): never => {
        throw new Error('ran, although it should have been answered');
      };
      const answer = await deliver(key, { awsRequestId: 'request-2', begun, getRemainingTimeInMillis }, 1);
      const isProblem = answer.headers?.['Content-Type'] === 'application/problem+json';
      return { ...answer, code: isProblem ? (JSON.parse(answer.body) as { code: string }).code : undefined };
    },
  };
}
