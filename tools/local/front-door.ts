import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gatewayAnswer, type HttpAnswer, toHttpAnswer } from './http-answer.ts';
import { type HttpEvent, toHttpEvent } from './http-event.ts';
import type { InvokeResult } from './result.ts';
import { matchRoute } from './routes.ts';

export { type HttpEvent, type HttpRequest, toHttpEvent } from './http-event.ts';

/** How the front door is opened. */
export interface FrontDoorOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly invoke: (event: HttpEvent) => Promise<InvokeResult>;
  /** Route keys such as `POST /orders`; anything else is answered 404. Default: everything goes to the function. */
  readonly routes?: readonly string[];
}

/** An HTTP API on this machine. */
export interface FrontDoor {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** The most that API Gateway takes in. */
const bodyLimit = 10 * 1024 * 1024;

/**
 * Opens an HTTP API on 127.0.0.1 that turns requests into events of payload format 2.0. The header `x-tenant` plays the
 * authorizer. Rejects when the port is taken.
 */
export async function startFrontDoor({ port, invoke, routes }: FrontDoorOptions): Promise<FrontDoor> {
  const handle = async (request: IncomingMessage): Promise<HttpAnswer> => {
    const { method = 'GET', url: path = '/' } = request;
    const body = await bodyOf(request);
    if (body === undefined) return gatewayAnswer(413, 'Request Entity Too Large');
    if (matchRoute(routes, method, path.split('?', 1)[0] ?? '') === undefined)
      return gatewayAnswer(404, 'Not Found');
    const headers = headersOf(request);
    const event = toHttpEvent({
      method,
      path,
      headers,
      body,
      tenant: headers['x-tenant']?.[0] ?? 'acme',
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
      ...(routes !== undefined && { routes }),
    });
    return toHttpAnswer(await invoke(event));
  };

  const server = createServer((request, response) => {
    handle(request)
      .then((answer) => send(response, answer))
      .catch((error: unknown) => {
        if (!request.complete) return response.destroy();
        console.error('the front door could not answer:', error);
        return send(response, gatewayAnswer(500, 'Internal Server Error'));
      });
  });
  await listen(server, port);
  const { port: real } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${real}`, port: real, stop: () => close(server) };
}

/** The whole body, or `undefined` when it is too large; it is read to its end so that the caller hears the answer. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= bodyLimit) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size <= bodyLimit ? Buffer.concat(chunks) : undefined;
}

/** From the raw list: Node drops repetitions of some headers, API Gateway joins them all. */
function headersOf({ rawHeaders }: IncomingMessage): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    headers[name] = [...(headers[name] ?? []), rawHeaders[at + 1] ?? ''];
  }
  return headers;
}

function send(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  for (const [name, value] of headers) response.setHeader(name, value);
  if (status !== 204 && status !== 304) response.setHeader('content-length', body.length);
  response.writeHead(status).end(body);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE' ? `Port ${port} of 127.0.0.1 is taken` : error.message;
      reject(
        new Error(`${taken}. Choose another one: --port ${port === 65_535 ? 3001 : port + 1}`, {
          cause: error,
        }),
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
