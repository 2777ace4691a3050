import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CloudWatchLogsClient,
  type FilteredLogEvent,
  FilterLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Outputs } from './deploy.ts';

/** A payment as a client sends it. */
export interface Payment {
  readonly amount: number;
  readonly card: string;
  readonly address: string;
}

/** An HTTP answer. */
export interface Answer {
  /** `201`, `201 replayed`, `409 busy`. */
  readonly label: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Item = Readonly<Record<string, unknown>>;

/** A request but for the authorization. */
type Sent = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };

/** The deployed shop from outside: over HTTP and SQS, and what its tables and logs say. */
export class Shop {
  readonly #outputs: Outputs;
  readonly #route: string;
  readonly #tables: DynamoDBDocumentClient;
  readonly #queues: SQSClient;
  readonly #functions: LambdaClient;
  readonly #logs: CloudWatchLogsClient;

  constructor(endpoint: string, outputs: Outputs) {
    const client = {
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    };
    this.#outputs = outputs;
    // the API's own host name resolves nowhere
    this.#route = `${endpoint}/_aws/execute-api/${outputs.apiId}/$default/payments`;
    this.#tables = DynamoDBDocumentClient.from(new DynamoDBClient(client));
    this.#queues = new SQSClient(client);
    this.#functions = new LambdaClient(client);
    this.#logs = new CloudWatchLogsClient(client);
  }

  /** Lets a tenant in, by a token. */
  async admit(tenant: string): Promise<void> {
    const id = createHash('sha256').update(tokenOf(tenant)).digest('hex');
    await this.#tables.send(new PutCommand({ TableName: this.#outputs.tokensTable, Item: { id, tenant } }));
  }

  async pay(payment: Payment, { key, tenant = 'ann' }: { key: string; tenant?: string }): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    return this.#fetch('', tenant, { method: 'POST', headers, body: JSON.stringify(payment) });
  }

  /** Whether it happened. */
  async status(key: string, tenant = 'ann'): Promise<Answer> {
    return this.#fetch(`?key=${key}`, tenant, {});
  }

  async chargesOf(amount: number): Promise<number> {
    const charges = await this.#scan('chargesTable');
    return charges.filter((charge) => charge.amount === amount).length;
  }

  async parcelsOf(payment: unknown): Promise<number> {
    return (await this.#scan('parcelsTable')).filter((parcel) => parcel.payment === payment).length;
  }

  /** Resolves when a message that was received comes again so soon, instead of after a minute. */
  async redeliverAfter(seconds: number): Promise<void> {
    const Attributes = { VisibilityTimeout: String(seconds) };
    await this.#queues.send(
      new SetQueueAttributesCommand({ QueueUrl: this.#outputs.shippingQueue, Attributes }),
    );
  }

  /** Sends an event to the shipping queue once more, as a relay does that was interrupted: under a new message id. */
  async relayAgain(payment: unknown, address: string): Promise<void> {
    await this.#enqueue(
      JSON.stringify({ type: 'paid', detail: { id: payment, address }, key: `ship:${String(payment)}` }),
    );
  }

  /** Resolves once the shipping queue has nothing left to do. */
  async shipped(): Promise<void> {
    await until('the shipping queue is empty', async () => {
      const AttributeNames = [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
      ] as const;
      const { Attributes = {} } = await this.#queues.send(
        new GetQueueAttributesCommand({
          QueueUrl: this.#outputs.shippingQueue,
          AttributeNames: [...AttributeNames],
        }),
      );
      return AttributeNames.every((name) => Attributes[name] === '0');
    });
  }

  /** Waits for a dead letter, and takes it out. */
  async deadLetter(): Promise<string> {
    return until('a dead letter', async () => {
      const { Messages: [message] = [] } = await this.#queues.send(
        new ReceiveMessageCommand({ QueueUrl: this.#outputs.shippingDeadLetters, WaitTimeSeconds: 1 }),
      );
      return message?.Body;
    });
  }

  /** What a redrive does: the same body, under a new message id. */
  async redrive(body: string): Promise<void> {
    await this.#enqueue(body);
  }

  /** The carrier reaches every address from now on. */
  async mendCarrier(): Promise<void> {
    const FunctionName = this.#outputs.shipFunction;
    const { Environment } = await this.#functions.send(new GetFunctionConfigurationCommand({ FunctionName }));
    const Variables = { ...Environment?.Variables, UNREACHABLE_ADDRESS: 'none' };
    await this.#functions.send(
      new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }),
    );
  }

  /** What the payment function has logged, by the process that logged it. */
  async payLogs(): Promise<ReadonlyMap<string, readonly string[]>> {
    const streams = new Map<string, string[]>();
    for (const { logStreamName = '', message = '' } of await this.#logged('payLogs')) {
      streams.set(logStreamName, [...(streams.get(logStreamName) ?? []), message]);
    }
    return streams;
  }

  /** Reports of the sweeps that the schedule has started. */
  async sweeps(): Promise<readonly { readonly released: number }[]> {
    const lines = (await this.#logged('sweepLogs')).map(({ message = '' }) => message);
    return lines.filter((line) => line.startsWith('{"lambda-once":"sweep"')).map((line) => JSON.parse(line));
  }

  /** The name of the table of claims, as metrics carry it. */
  get table(): string {
    return this.#outputs.onceTable ?? '';
  }

  async #fetch(query: string, tenant: string, options: Sent): Promise<Answer> {
    const response = await fetch(this.#route + query, {
      ...options,
      headers: { ...options.headers, authorization: `Bearer ${tokenOf(tenant)}` },
      signal: AbortSignal.timeout(60_000),
    });
    const body = JSON.parse((await response.text()) || '{}') as Answer['body'];
    return { label: labelOf(response, body), body };
  }

  async #scan(table: string): Promise<readonly Item[]> {
    const items: Item[] = [];
    const TableName = this.#outputs[table];
    for await (const { Items = [] } of paginateScan({ client: this.#tables }, { TableName }))
      items.push(...Items);
    return items;
  }

  async #enqueue(MessageBody: string): Promise<void> {
    await this.#queues.send(new SendMessageCommand({ QueueUrl: this.#outputs.shippingQueue, MessageBody }));
  }

  async #logged(output: string): Promise<readonly FilteredLogEvent[]> {
    const logGroupName = this.#outputs[output];
    const { events = [] } = await this.#logs.send(
      new FilterLogEventsCommand({ logGroupName, limit: 10_000 }),
    );
    return events;
  }
}

function tokenOf(tenant: string): string {
  return `token-of-${tenant}-${'0'.repeat(16)}`;
}

function labelOf({ status, headers }: Response, body: Answer['body']): string {
  if (headers.get('idempotency-replayed') === 'true') return `${status} replayed`;
  const what = body.code ?? body.status;
  return typeof what === 'string' ? `${status} ${what}` : String(status);
}

/** Asks until the answer is neither `undefined` nor `false`, for two minutes at the most. */
export async function until<Value>(
  what: string,
  look: () => Promise<Value | undefined | false>,
): Promise<Value> {
  const limit = performance.now() + 120_000;
  while (performance.now() < limit) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await sleep(250);
  }
  throw new Error(`Waited two minutes for this, in vain: ${what}.`);
}

/** A payment that no other scene makes: charges are counted by their amounts. */
export function newPayment(overrides: Partial<Payment> = {}): { payment: Payment; key: string } {
  amounts += 1;
  return { payment: { amount: amounts, card: 'visa', address: 'home', ...overrides }, key: randomUUID() };
}

let amounts = 0;
