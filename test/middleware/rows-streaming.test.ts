import { Readable, Writable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { idempotency, idempotentHttp } from '../../src/index.ts';
import { contextWith, fronts } from '../support/http.ts';
import { type Chain, type Handler, kits } from './support/middy.ts';
import { world } from './support/world.ts';

/** What the runtime got: the prelude and the bytes. */
class Wire extends Writable {
  prelude: { statusCode?: number; headers?: Record<string, string> } = {};
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

type Streaming = (event: unknown, wire: Wire, context: object) => Promise<void>;

/** The runtime's global, as far as Middy uses it. */
const runtime = {
  streamifyResponse: (handler: Streaming) => handler,
  HttpResponseStream: {
    from: (wire: Wire, prelude: Wire['prelude']) => Object.assign(wire, { prelude }),
  },
};

async function stream(chain: Chain): Promise<Wire> {
  const wire = new Wire();
  await (chain as unknown as Streaming)(fronts.v2({ key: 'k', body: 1 }), wire, contextWith());
  return wire;
}

const bodies: [string, () => unknown][] = [
  ['a Readable', () => Readable.from(['a', 'b', 'c'])],
  ['a ReadableStream', () => ReadableStream.from(['a', 'b', 'c'])],
];

describe.each(kits)('response streaming, Middy $version', (kit) => {
  beforeEach(() => void vi.stubGlobal('awslambda', runtime));
  afterEach(() => void vi.unstubAllGlobals());

  test.each(bodies)(
    'M16: %s reaches the client whole; the duplicate gets a problem, not junk',
    async (_name, body) => {
      const { store, records } = world();
      const run = vi.fn(() => ({ statusCode: 200, headers: { 'Content-Type': 'text/plain' }, body: body() }));
      const chain = kit
        .middy(kit.streaming)
        .use(idempotency({ store, operation: 'place', scope: 'none' }))
        .handler(run);
      const first = await stream(chain);
      expect(first).toMatchObject({ text: 'abc', prelude: { statusCode: 200 } });
      const second = await stream(chain);
      expect(second.prelude).toMatchObject({ statusCode: 410 });
      expect(JSON.parse(second.text)).toMatchObject({ code: 'outcome-not-kept', originalStatus: 200 });
      expect(records()).toMatchObject([{ state: 'completed' }]);
      expect(records()[0]?.outcome).not.toContain('abc');
      expect(run).toHaveBeenCalledTimes(1);
    },
  );

  test.each(bodies)('M16: %s out of the handler’s seat, the same', async (_name, body) => {
    const { store } = world();
    const run = vi.fn(() => ({ statusCode: 200, body: body() }));
    const seat = idempotentHttp(run, { store, operation: 'place', scope: 'none' });
    const chain = kit.middy(seat as unknown as Handler, kit.streaming);
    expect(await stream(chain)).toMatchObject({ text: 'abc', prelude: { statusCode: 200 } });
    expect((await stream(chain)).prelude).toMatchObject({ statusCode: 410 });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('M16: a text body is streamed by Middy and replays as any other', async () => {
    const { store } = world();
    const run = vi.fn(() => ({ statusCode: 201, body: 'text' }));
    const chain = kit
      .middy(kit.streaming)
      .use(idempotency({ store, operation: 'place', scope: 'none' }))
      .handler(run);
    expect(await stream(chain)).toMatchObject({ text: 'text', prelude: { statusCode: 201 } });
    expect(await stream(chain)).toMatchObject({
      text: 'text',
      prelude: { statusCode: 201, headers: { 'Idempotency-Replayed': 'true' } },
    });
    expect(run).toHaveBeenCalledTimes(1);
  });
});
