import {
  type ConditionalCheckFailedException,
  DescribeTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Unique } from '../../domain/companion.ts';
import { checkOptions, isText, oneOf } from '../../domain/options.ts';
import type { OnceRecord } from '../../domain/record.ts';
import { appliedByMe, type Transition, targetOf } from '../../domain/transition.ts';
import { IdempotencyError } from '../../errors.ts';
import { environment } from '../../names.ts';
import type { Commit, Committed } from '../commit.ts';
import { withInspection } from '../inspect.ts';
import type { CallLimits, DuePage, Store, TableSize, Written } from '../store.ts';
import { duePages, type Listed } from './due.ts';
import { storeFailure } from './failure.ts';
import { type Item, toRecord } from './item.ts';
import { readRequest, writeRequest } from './requests.ts';
import { readCancellation, toUnique, transaction } from './transact.ts';

/** What an engine answers, in the parts that are read. */
interface Answer extends Listed {
  readonly Item?: Item;
  readonly Table?: { readonly ItemCount?: number; readonly TableSizeBytes?: number };
}

/** A client of the user's own, plain or document: only `send` is used, with commands that carry plain attributes. */
export interface DynamoClient {
  // biome-ignore lint/suspicious/noExplicitAny: both clients overload `send` in ways no narrower type covers
  send(command: any, options?: any): Promise<any>;
}

/** Options of {@link dynamoStore}. */
export interface DynamoStoreOptions {
  /** Default: the environment variable `LAMBDA_ONCE_TABLE`, read when the first request comes. */
  readonly tableName?: string | undefined;
  /**
   * Your own client, plain or document. Its retries and timeouts are yours; each call is still cut off after
   * 1.4 seconds. Default: one of our own, built when the first request comes.
   */
  readonly client?: DynamoClient | undefined;
  /** Where our own client connects, for local engines. Default: the region's endpoint. */
  readonly endpoint?: string | undefined;
  /** Region of our own client. Default: as the SDK finds it. */
  readonly region?: string | undefined;
  /** Epoch milliseconds. Default `Date.now`; for tests that cross a lease or a retention. */
  readonly now?: (() => number) | undefined;
}

/**
 * A claim is one small write to one item: it takes milliseconds or it is in trouble. Three attempts within the engine's
 * budget; 900 ms each, since a cold function of 128 MB needs most of that for its first handshake. The SDK's own
 * defaults would wait for minutes, longer than the function lives.
 */
const clientDefaults: DynamoDBClientConfig = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 900, requestTimeout: 900, throwOnRequestTimeout: true },
  customUserAgent: [['lambda-once']],
};

/**
 * The store on a DynamoDB table with the partition key `id` (String) and TTL on `expiresAt`. Building it costs nothing:
 * no client, no credentials, no environment before the first request.
 *
 * @throws IdempotencyError `options`
 */
export function dynamoStore(options: DynamoStoreOptions = {}): Store {
  checkOptions('dynamoStore', options, {
    tableName: isText,
    client: oneOf(
      'an object with a `send` method',
      (value) => typeof (value as DynamoClient | null)?.send === 'function',
    ),
    endpoint: isText,
    region: isText,
    now: oneOf('a function', (value) => typeof value === 'function'),
  });
  let client = options.client;
  const connect = (): DynamoClient => (client ??= buildClient(options));
  const tableName = (): string => options.tableName ?? tableFromEnvironment();

  async function send(command: object, { budget }: CallLimits): Promise<Answer> {
    return connect().send(command, { abortSignal: AbortSignal.timeout(Math.max(1, Math.ceil(budget))) });
  }

  async function read(id: string, limits: CallLimits): Promise<OnceRecord | undefined> {
    const table = tableName();
    try {
      return toRecord((await send(new GetItemCommand(readRequest(table, id)), limits)).Item);
    } catch (error) {
      throw storeFailure(error, table);
    }
  }

  async function write(transition: Transition, limits: CallLimits): Promise<Written> {
    const table = tableName();
    const request = writeRequest(table, transition);
    try {
      await send(
        request.kind === 'put' ? new PutItemCommand(request.input) : new UpdateItemCommand(request.input),
        limits,
      );
      return { kind: 'applied' };
    } catch (error) {
      if (!isRefusal(error)) throw storeFailure(error, table);
      // an old endpoint returns no item, which is not the same as there being none
      const record = toRecord(error.Item) ?? (await read(targetOf(transition), limits));
      return appliedByMe(transition, record) ? { kind: 'applied-before' } : { kind: 'refused', record };
    }
  }

  async function* due(before: number, limits: CallLimits): AsyncGenerator<DuePage> {
    const table = tableName();
    try {
      yield* duePages((command) => send(command, limits), table, before);
    } catch (error) {
      throw storeFailure(error, table);
    }
  }

  async function commit(given: Commit, limits: CallLimits): Promise<Committed> {
    const table = tableName();
    const built = await transaction(table, given);
    try {
      await send(new TransactWriteItemsCommand(built.input), limits);
      return { kind: 'applied' };
    } catch (error) {
      const committed = await readCancellation(error, given, built, (id) => read(id, limits));
      if (committed === undefined) throw storeFailure(error, table);
      return committed;
    }
  }

  async function unique(id: string, limits: CallLimits): Promise<Unique | undefined> {
    const table = tableName();
    try {
      return toUnique((await send(new GetItemCommand(readRequest(table, id)), limits)).Item);
    } catch (error) {
      throw storeFailure(error, table);
    }
  }

  async function size(limits: CallLimits): Promise<TableSize> {
    const { Table } = await send(new DescribeTableCommand({ TableName: tableName() }), limits);
    return { items: Table?.ItemCount ?? 0, bytes: Table?.TableSizeBytes ?? 0 };
  }

  return withInspection({ now: options.now ?? Date.now, read, write, due, commit, unique, size });
}

function buildClient({ endpoint, region }: DynamoStoreOptions): DynamoDBClient {
  return new DynamoDBClient({
    ...clientDefaults,
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
  });
}

/** By name and not only by class: the user's client may come from another copy of the SDK. */
function isRefusal(error: unknown): error is ConditionalCheckFailedException {
  return (error as { name?: string } | null)?.name === 'ConditionalCheckFailedException';
}

function tableFromEnvironment(): string {
  const name = process.env[environment.table];
  if (name !== undefined && name !== '') return name;
  throw new IdempotencyError(
    'options',
    `No table: give dynamoStore({ tableName }) or set ${environment.table}.`,
  );
}
