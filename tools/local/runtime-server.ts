import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One piece of work for a runtime. */
export interface Invocation {
  readonly id: string;
  readonly payload: string;
  /** Epoch milliseconds at which the environment is killed. */
  readonly deadline: number;
  readonly functionArn: string;
  readonly traceId: string;
}

/** What a runtime says over its API. */
export type RuntimeMessage =
  | { readonly kind: 'poll'; readonly give: (invocation: Invocation) => void }
  | { readonly kind: 'response'; readonly body: string }
  | { readonly kind: 'error'; readonly body: string }
  | { readonly kind: 'init-error'; readonly body: string };

/** The Runtime API of one environment. */
export interface RuntimeServer {
  /** What goes into `AWS_LAMBDA_RUNTIME_API`. */
  readonly address: string;
  close(): void;
}

const root = '/2018-06-01/runtime/';

/**
 * Serves the Lambda Runtime API to one environment, on a port of its own: `AWS_LAMBDA_RUNTIME_API` has room for a host
 * and a port only, so the port is what tells environments apart.
 */
export async function serveRuntime(hear: (message: RuntimeMessage) => void): Promise<RuntimeServer> {
  let current: string | undefined;

  const poll = (response: ServerResponse): void => {
    const give = (invocation: Invocation): void => {
      current = invocation.id;
      response.writeHead(200, headersOf(invocation)).end(invocation.payload);
    };
    hear({ kind: 'poll', give });
  };

  const settle = async (
    id: string,
    kind: 'response' | 'error',
    request: IncomingMessage,
  ): Promise<number> => {
    const body = await text(request);
    // each invocation is answered once: a second answer, or one to an earlier invocation, is refused
    if (id !== current) return 400;
    current = undefined;
    hear({ kind, body });
    return 202;
  };

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.startsWith(root) ? request.url.slice(root.length) : '';
    const called = `${request.method} ${path}`;
    if (called === 'GET invocation/next') {
      poll(response);
      return;
    }
    const [, id = '', kind] = /^POST invocation\/([^/]+)\/(response|error)$/.exec(called) ?? [];
    if (kind === 'response' || kind === 'error') {
      answer(response, await settle(id, kind, request));
    } else if (called === 'POST init/error') {
      hear({ kind: 'init-error', body: await text(request) });
      answer(response, 202);
    } else {
      answer(response, 404);
    }
  };

  // no time limits: an idle runtime polls for as long as nobody calls
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    route(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `127.0.0.1:${port}`, close };
}

function headersOf({ id, deadline, functionArn, traceId }: Invocation): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Lambda-Runtime-Aws-Request-Id': id,
    'Lambda-Runtime-Deadline-Ms': String(deadline),
    'Lambda-Runtime-Invoked-Function-Arn': functionArn,
    'Lambda-Runtime-Trace-Id': traceId,
  };
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ status: status === 202 ? 'OK' : 'refused' }));
}
