import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { courseOf, type Fault } from './faults.ts';
import { type Awaited, type Keys, Ledger, type LedgerView } from './ledger.ts';
import { type Answer, answerTo, type Office } from './routes.ts';

/** What kind of provider it is. */
export interface ProviderOptions {
  /** Default `'merged'`: a key is charged once. */
  readonly keys?: Keys;
  /** Larger amounts are declined. Default: none is too large. */
  readonly amountLimit?: number;
}

/** A payment provider on this machine. */
export interface Provider {
  readonly url: string;
  /** The books as they are now; of one reference, or of everything. They stay readable after `stop`. */
  readonly ledger: (reference?: string) => LedgerView;
  /**
   * Resolves as soon as the books hold at least so much, at once if they do already. `arrived` is for a caller that is to
   * die before its charge is made, `charges` for one that is to die before it hears of it. Rejects after `wait`
   * milliseconds (default 10,000), and when the provider stops.
   */
  readonly until: (awaited: Awaited, wait?: number) => Promise<LedgerView>;
  /** The next `times` requests (default 1) of a kind that bring no `x-fault` of their own suffer. Faults queue up. */
  readonly on: (request: 'charge' | 'find', fault: Fault, times?: number) => void;
  /** Breaks all connections. A charge that is still delayed is never made. */
  readonly stop: () => Promise<void>;
}

/** More than the workers of a drill open; the next one is turned away. */
const maxConnections = 1_000;

/** Milliseconds for a request to come in; a delay that a fault asks for does not count. */
const requestTimeout = 10_000;

/**
 * Starts a payment provider on a free port of 127.0.0.1. Its books are in memory and end with its process.
 *
 * | request | answer |
 * | --- | --- |
 * | `POST /charges`, `Idempotency-Key` if wanted | 201 the charge; 200 the earlier charge of this key; 402 declined; 422 the key of another order |
 * | `GET /charges?reference=<key>` | 200 `{ charges }` |
 * | `GET /ledger?reference=&arrived=&charges=&wait=` | 200 `{ arrived, charges }` once there are so many, 504 after `wait` milliseconds. For tests only |
 *
 * What cannot be used is answered 400 with the `field`. The header `x-fault` makes a request suffer, see {@link Fault}:
 * then what the caller hears and what was charged are two things, and the ledger says what was charged.
 */
export async function startProvider(options: ProviderOptions = {}): Promise<Provider> {
  const { keys = 'merged', amountLimit = Number.POSITIVE_INFINITY } = options;
  if (keys !== 'merged' && keys !== 'ignored')
    throw new TypeError(`keys must be 'merged' or 'ignored', not ${JSON.stringify(keys)}`);
  if (!(amountLimit > 0)) throw new RangeError(`amountLimit must be above 0, not ${amountLimit}`);
  const ledger = new Ledger({ keys, amountLimit });
  const stopping = new AbortController();
  const office: Office = { ledger, courses: { charge: [], find: [] }, stopped: stopping.signal };

  const server = createServer({ requestTimeout }, (request, response) => {
    answerTo(request, office)
      .then((answer) => (answer === undefined ? request.socket.destroy() : send(response, answer)))
      // stopped during a delay, or the caller left in mid-request
      .catch(() => request.socket.destroy());
  });
  server.maxConnections = maxConnections;
  await once(server.listen(0, '127.0.0.1'), 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ledger: (reference) => ledger.view(reference),
    until: (awaited, wait = 10_000) => ledger.until(awaited, wait, stopping.signal),
    on(request, fault, times = 1) {
      const course = courseOf(fault);
      if (course === undefined) throw new TypeError(`${JSON.stringify(fault)} is no fault`);
      for (let time = 0; time < times; time += 1) office.courses[request].push(course);
    },
    async stop() {
      stopping.abort(new Error('the provider was stopped'));
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
