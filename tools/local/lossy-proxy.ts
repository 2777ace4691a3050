import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What happens to a request on its way. */
export type Fault =
  /** The engine carries it out; the connection breaks before the answer. */
  | 'drop-reply'
  /** The connection breaks before the engine sees it. */
  | 'reset'
  /** ProvisionedThroughputExceededException. */
  | 'throttle'
  /** AccessDeniedException. */
  | 'deny'
  /** A 500 of the service. */
  | 'fail'
  /** TransactionInProgressException, IdempotentParameterMismatchException. */
  | 'in-progress'
  | 'mismatch'
  /** TransactionCanceledException, with this code for our own record and None for the rest. */
  | { readonly cancel: string }
  /** The engine sees it this many milliseconds late, the sender long gone or not. */
  | { readonly delay: number }
  /** The engine carries it out at once; the answer comes this many milliseconds late. */
  | { readonly delayReply: number };

/** A request as it came by. */
export interface Seen {
  readonly operation: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  readonly fault?: Fault;
}

/** A loopback proxy before the engine that loses, delays and refuses on demand. */
export interface LossyProxy {
  readonly endpoint: string;
  /** Every request since the last `heal`, in order, the faulty ones included. */
  readonly requests: readonly Seen[];
  /** The names of the operations seen, in order. */
  readonly operations: () => string[];
  /** The same without reads: an engine that returns no items needs some. */
  readonly writes: () => string[];
  /** The next `times` requests of an operation suffer. Faults of one operation queue up. */
  on(
    operation: 'PutItem' | 'UpdateItem' | 'GetItem' | 'TransactWriteItems',
    fault: Fault,
    times?: number,
  ): void;
  /** Drops all faults and forgets what was seen. */
  readonly heal: () => void;
  readonly stop: () => Promise<void>;
}

const errors = {
  throttle: [400, 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException', 'Slow down'],
  deny: [400, 'com.amazon.coral.service#AccessDeniedException', 'User: arn:aws:sts::1:x is not authorized'],
  fail: [500, 'com.amazonaws.dynamodb.v20120810#InternalServerError', 'Internal server error'],
  'in-progress': [400, 'com.amazonaws.dynamodb.v20120810#TransactionInProgressException', 'In progress'],
  mismatch: [
    400,
    'com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException',
    'Other parameters',
  ],
} as const;

/** Starts a proxy before an engine. */
export async function startLossyProxy(upstream: string): Promise<LossyProxy> {
  const requests: Seen[] = [];
  const faults = new Map<string, Fault[]>();
  const stopped = new AbortController();
  const operations = (): string[] => requests.map(({ operation }) => operation);

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const bytes = Buffer.concat(await incoming.toArray());
    const operation = String(incoming.headers['x-amz-target']).split('.')[1] ?? '';
    const fault = faults.get(operation)?.shift();
    const body = JSON.parse(bytes.toString() || '{}') as Record<string, unknown>;
    requests.push({ operation, headers: incoming.headers, body, ...(fault !== undefined && { fault }) });
    if (fault === 'reset') return void incoming.socket.destroy();
    if (typeof fault === 'string' && fault in errors)
      return refuse(outgoing, errors[fault as keyof typeof errors]);
    if (typeof fault === 'object' && 'cancel' in fault) return cancel(outgoing, fault.cancel, body);
    if (typeof fault === 'object' && 'delay' in fault) await pause(fault.delay);
    const { status, headers, text } = await forward(upstream, incoming, bytes);
    if (fault === 'drop-reply') return void incoming.socket.destroy();
    if (typeof fault === 'object' && 'delayReply' in fault) await pause(fault.delayReply);
    outgoing.writeHead(status, headers).end(text);
  }
  const pause = (milliseconds: number): Promise<void> =>
    sleep(milliseconds, undefined, { signal: stopped.signal });

  const server = createServer((incoming, outgoing) => {
    // a proxy that is stopped while it delays has nothing more to say
    pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    operations,
    writes: () => operations().filter((operation) => operation !== 'GetItem'),
    on(operation, fault, times = 1) {
      faults.set(operation, [...(faults.get(operation) ?? []), ...Array<Fault>(times).fill(fault)]);
    },
    heal() {
      faults.clear();
      requests.length = 0;
    },
    async stop() {
      stopped.abort();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function forward(
  upstream: string,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<{ status: number; headers: Record<string, string>; text: string }> {
  const names = ['x-amz-target', 'content-type', 'authorization', 'x-amz-date'];
  const headers = Object.fromEntries(names.map((name) => [name, String(incoming.headers[name])]));
  const answer = await fetch(upstream, { method: 'POST', headers, body: new Uint8Array(body) });
  return {
    status: answer.status,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    text: await answer.text(),
  };
}

/** As DynamoDB answers: one reason for each item, in their order. */
function cancel(outgoing: ServerResponse, code: string, { TransactItems }: Record<string, unknown>): void {
  const items = TransactItems as unknown[];
  const CancellationReasons = items.map((_item, index) => ({ Code: index === 0 ? code : 'None' }));
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  const __type = 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException';
  outgoing.writeHead(400, headers).end(JSON.stringify({ __type, message: 'cancelled', CancellationReasons }));
}

function refuse(outgoing: ServerResponse, [status, type, message]: readonly [number, string, string]): void {
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  outgoing.writeHead(status, headers).end(JSON.stringify({ __type: type, message }));
}
