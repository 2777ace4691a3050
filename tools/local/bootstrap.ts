/**
 * The runtime interface client: what runs in every environment. `node bootstrap.ts <module> <export>` loads the handler,
 * then asks the Runtime API for one invocation after another. A handler is an async function; callbacks are not served
 * (nodejs24.x has none either).
 */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { contextOf, type LambdaContext } from './context.ts';

type Handler = (event: unknown, context: LambdaContext) => unknown;

const [file = '', handlerName = ''] = process.argv.slice(2);
const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/`;
const agent = new Agent({ keepAlive: true });

/** Where an error belongs now; nowhere between two invocations. */
let errorPath: string | undefined = 'init/error';

// The other end of stdin is our parent's. It closes with the parent, even when that is killed while a handler waits for
// something that will never come.
process.stdin.once('close', orphaned).resume().unref();

process.on('uncaughtException', (error, origin) => {
  console.error(error);
  const rejected = origin === 'unhandledRejection';
  const leave = (): never => process.exit(rejected ? 128 : 129);
  if (errorPath === undefined) leave();
  void fail(error, rejected ? 'Runtime.UnhandledPromiseRejection' : undefined).then(leave);
});

const handler = await load().catch(async (error: unknown) => {
  await fail(error);
  process.exit(1);
});

for (;;) {
  errorPath = undefined;
  const { headers, body } = await call('GET', 'invocation/next');
  const invocation = `invocation/${String(headers['lambda-runtime-aws-request-id'])}`;
  errorPath = `${invocation}/error`;
  process.env._X_AMZN_TRACE_ID = String(headers['lambda-runtime-trace-id']);
  let result: string;
  try {
    result = JSON.stringify(await handler(JSON.parse(body), contextOf(headers))) ?? 'null';
  } catch (error) {
    await fail(error);
    continue;
  }
  await call('POST', `${invocation}/response`, result);
}

async function load(): Promise<Handler> {
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const found = module[handlerName];
  if (typeof found === 'function') return found as Handler;
  throw Object.assign(new Error(`${file} exports no function "${handlerName}"`), {
    name: 'Runtime.HandlerNotFound',
  });
}

async function fail(error: unknown, errorType?: string): Promise<void> {
  const described =
    error instanceof Error
      ? { errorType: error.name, errorMessage: error.message, stackTrace: error.stack?.split('\n') ?? [] }
      : { errorType: typeof error, errorMessage: String(error), stackTrace: [] };
  const body = JSON.stringify({ ...described, ...(errorType !== undefined && { errorType }) });
  await call('POST', errorPath ?? 'init/error', body);
}

// node:http and not fetch: fetch gives up on a poll after five quiet minutes
function call(
  method: 'GET' | 'POST',
  path: string,
  body = '',
): Promise<{ headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve) => {
    request(api + path, { method, agent, headers: { 'Content-Type': 'application/json' } })
      .once('error', orphaned)
      .once('response', (response) => {
        text(response).then((answer) => resolve({ headers: response.headers, body: answer }), orphaned);
      })
      .end(body);
  });
}

/** Nobody is left to work for. */
function orphaned(): never {
  process.exit(1);
}
