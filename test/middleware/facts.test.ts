import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { contextWith } from '../support/http.ts';
import { type Hooks, kits } from './support/middy.ts';
import { gate } from './support/world.ts';

/** Hooks that write down when they run. */
function tracer(name: string, trail: string[]): Hooks {
  const note = (hook: string) => (): void => void trail.push(`${name}.${hook}`);
  return { before: note('before'), after: note('after'), onError: note('onError') };
}

// What our hooks stand on. No line of ours runs here: a new Middy that breaks one of these breaks us.
describe.each(kits)('facts about Middy $version', ({ middy, errorHandler }) => {
  test('fact 1: an early response skips the handler and every after, also of those outside', async () => {
    const trail: string[] = [];
    const chain = middy()
      .use(tracer('outer', trail))
      .use({ before: () => 'early' })
      .use(tracer('inner', trail))
      .handler(() => trail.push('handler'));
    expect(await chain({}, {})).toBe('early');
    expect(trail).toEqual(['outer.before']);
  });

  test('fact 2: onError runs for a middleware whose before never ran, and for the one that threw', async () => {
    const trail: string[] = [];
    const thrower = tracer('thrower', trail);
    thrower.before = () => Promise.reject(new Error('no'));
    const chain = middy().use(thrower).use(tracer('never begun', trail));
    await expect(chain({}, {})).rejects.toThrow('no');
    expect(trail).toEqual(['never begun.onError', 'thrower.onError']);
  });

  test('fact 3: at an early timeout onError runs while the handler still runs', async () => {
    const trail: string[] = [];
    const handler = gate();
    const chain = middy({ timeoutEarlyInMillis: 10 })
      .use(tracer('ours', trail))
      .handler(async (_event, _context, opts) => {
        await handler.opened;
        trail.push(`handler done, aborted: ${opts?.signal.aborted}`);
      });
    await expect(chain({}, contextWith(40))).rejects.toMatchObject({ name: 'TimeoutError' });
    handler.open();
    await sleep(1);
    expect(trail).toEqual(['ours.before', 'ours.onError', 'handler done, aborted: true']);
  });

  test('fact 3: when the early timeout answers with a value it is after that runs', async () => {
    const trail: string[] = [];
    const handler = gate();
    const chain = middy({ timeoutEarlyInMillis: 10, timeoutEarlyResponse: () => ({ statusCode: 408 }) })
      .use(tracer('ours', trail))
      .handler(async () => {
        await handler.opened;
        trail.push('handler done');
      });
    expect(await chain({}, contextWith(40))).toEqual({ statusCode: 408 });
    handler.open();
    await sleep(1);
    expect(trail).toEqual(['ours.before', 'ours.after', 'handler done']);
  });

  test('fact 4: only the property earlyResponse ends the chain with undefined', async () => {
    let runs = 0;
    const count = (): void => {
      runs += 1;
    };
    const returned = middy()
      .use({ before: () => undefined })
      .handler(count);
    await returned({}, {});
    expect(runs).toBe(1);
    const assigned = middy()
      .use({
        before: (request) => {
          request.earlyResponse = undefined;
        },
      } satisfies Hooks)
      .handler(count);
    expect(await assigned({}, {})).toBeUndefined();
    expect(runs).toBe(1);
  });

  test('fact 5: before runs in order, after and onError in reverse', async () => {
    const trail: string[] = [];
    const chain = () => middy().use(tracer('first', trail)).use(tracer('second', trail));
    await chain().handler(() => 'done')({}, {});
    expect(trail.splice(0)).toEqual(['first.before', 'second.before', 'second.after', 'first.after']);
    const failing = chain().handler(() => {
      throw new Error('no');
    });
    await expect(failing({}, {})).rejects.toThrow('no');
    expect(trail).toEqual(['first.before', 'second.before', 'second.onError', 'first.onError']);
  });

  test('why we watch the first error: the error handler replaces request.error before outer hooks see it', async () => {
    const seen: unknown[] = [];
    const chain = middy({ timeoutEarlyInMillis: 10 })
      .use({ onError: ({ error }) => void seen.push(error) } satisfies Hooks)
      .use(errorHandler())
      .handler(() => sleep(60));
    expect(await chain({}, contextWith(40))).toMatchObject({ statusCode: 500 });
    expect(seen).toEqual([expect.objectContaining({ statusCode: 500 })]);
    expect(seen[0]).not.toHaveProperty('name', 'TimeoutError');
  });

  test('why an after hook must not throw: the answer of the handler is wiped before onError', async () => {
    const seen: unknown[] = [];
    const chain = middy()
      .use({ onError: ({ response }) => void seen.push(response) } satisfies Hooks)
      .use({
        after: () => {
          throw new Error('shaper');
        },
      } satisfies Hooks)
      .handler(() => ({ statusCode: 201 }));
    await expect(chain({}, {})).rejects.toThrow('shaper');
    expect(seen).toEqual([undefined]);
  });

  test('the context of the handler is the context of the hooks, by identity', async () => {
    const context = contextWith();
    const seen: object[] = [];
    const chain = middy()
      .use({ before: (request) => void seen.push(request.context) } satisfies Hooks)
      .handler((_event, given) => void seen.push(given));
    await chain({}, context);
    expect(seen).toEqual([context, context]);
    expect(seen.every((given) => given === context)).toBe(true);
  });
});
