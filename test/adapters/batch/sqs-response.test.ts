import { describe, expect, test } from 'vitest';
import {
  type BatchOptions,
  bodyKey,
  idempotentSqs,
  idempotentStream,
  sqsIdempotency,
} from '../../../src/index.ts';
import { memoryStore } from '../../../src/testing.ts';
import { world } from '../../middleware/support/world.ts';
import { consumer, failsFor, message } from './support.ts';

describe('Q04: the response', () => {
  test.each([
    ['no id', [message('m1', { id: 1 }), { body: '{"id":2}' }]],
    ['an empty id', [message('m1', { id: 1 }), message('', { id: 2 })]],
    ['an id that is no text', [message('m1', { id: 1 }), { messageId: 7, body: '{"id":2}' }]],
    ['null for a record', [message('m1', { id: 1 }), null]],
    ['a text for a record', [message('m1', { id: 1 }), 'm2']],
  ])('Q04: %s fails the whole batch loudly, with nothing claimed', async (_name, records) => {
    const { send, ran, calls } = consumer();
    await expect(send(records as never)).rejects.toMatchObject({
      code: 'input-invalid',
      message: expect.stringContaining('Records[1]'),
    });
    expect([ran, calls]).toEqual([[], []]);
  });

  test.each([[undefined], [null], [{}], [{ Records: null }], [{ Records: 'x' }], [{ detail: {} }]])(
    'Q04: the event %j is refused',
    async (event) => {
      const consume = idempotentSqs(async () => undefined, {
        store: memoryStore(),
        operation: 'ship',
        key: bodyKey('id'),
      });
      await expect(consume(event as never, {})).rejects.toMatchObject({ code: 'input-invalid' });
    },
  );

  test('Q04: no record, no failure', async () => {
    expect(await consumer().send([])).toEqual([]);
  });

  test('Q04: identifiers are known, unique and in the order of the batch', async () => {
    const { send } = consumer(failsFor('m1', 'm2', 'm4'));
    const batch = [4, 1, 2, 3, 1, 4].map((id) => message(`m${id}`, { id }));
    expect(await send(batch)).toEqual(['m4', 'm1', 'm2']);
  });

  test('Q04: what the handler of a record returns is never taken for a list of failures', async () => {
    const { send } = consumer(() => ({ batchItemFailures: [{ itemIdentifier: 'm1' }] }));
    expect(await send([message('m1', { id: 1 })])).toEqual([]);
  });

  test('Q05: onFailures throw, for a mapping without ReportBatchItemFailures: it throws, and what is done replays', async () => {
    const broken = new Set(['m2']);
    const { send, ran } = consumer(
      ({ messageId }) => {
        if (broken.has(messageId)) throw new Error('no');
      },
      { onFailures: 'throw' },
    );
    const batch = [1, 2, 3].map((id) => message(`m${id}`, { id }));
    await expect(send(batch)).rejects.toThrow('1 records of the batch failed');
    expect(ran).toEqual(['m1', 'm2', 'm3']);
    broken.clear();
    expect(await send(batch)).toEqual([]);
    expect(ran).toEqual(['m1', 'm2', 'm3', 'm2']);
  });
});

describe('options', () => {
  const adapters: [string, (options: never) => unknown][] = [
    ['idempotentSqs', (options) => idempotentSqs(async () => undefined, options)],
    ['sqsIdempotency', (options) => sqsIdempotency(options)],
    ['idempotentStream', (options) => idempotentStream(async () => undefined, options)],
  ];
  const bad: [string, object, RegExp][] = [
    ['no key', { key: undefined }, /"key" is required/],
    ['a key that is a path', { key: 'orderId' }, /"key" must be a function/],
    ['no store', { store: undefined }, /"store" is required/],
    ['no operation', { operation: undefined }, /"operation" is required/],
    ['concurrency 0', { concurrency: 0 }, /"concurrency" must be a whole number from 1 to 1000; got 0/],
    ['concurrency 1.5', { concurrency: 1.5 }, /"concurrency"/],
    ['concurrency 1001', { concurrency: 1001 }, /"concurrency"/],
    ['concurrency Infinity', { concurrency: Number.POSITIVE_INFINITY }, /"concurrency"/],
    ['a bare number as floor', { floor: 1000 }, /"floor" must be a duration object/],
    ['an unknown word', { onFailures: 'ignore' }, /"onFailures" must be 'report' or 'throw'/],
    ['a hook that is none', { onRecordFailure: true }, /"onRecordFailure" must be a function/],
    ['an unknown scope', { scope: 'all' }, /"scope" must be 'none', or a function/],
    ['an empty allow-list', { fingerprint: { body: [] } }, /"fingerprint"/],
    ['a misspelled allow-list', { fingerprint: { bodies: ['a'] } }, /"fingerprint"/],
    ['fingerprint true', { fingerprint: true }, /"fingerprint"/],
    ['a typo', { concurency: 1 }, /unknown option "concurency"/],
    ['an option of HTTP', { methods: ['POST'] }, /unknown option "methods"/],
    ['wait longer than lease', { wait: { minutes: 2 }, lease: { minutes: 1 } }, /"wait" must not be longer/],
  ];
  test.each(adapters.flatMap(([name, make]) => bad.map((row) => [name, ...row, make] as const)))(
    '%s refuses %s at construction',
    (name, _what, options, message, make) => {
      const all = { store: memoryStore(), operation: 'ship', key: () => 'k', ...options };
      expect(() => make(all as never)).toThrow(message);
      expect(() => make(all as never)).toThrow(
        expect.objectContaining({ code: 'options', message: expect.stringContaining(name) }),
      );
    },
  );

  test.each([['idempotentSqs'], ['idempotentStream']])('%s wants a function', (name) => {
    const make = { idempotentSqs, idempotentStream }[name] as (...args: unknown[]) => unknown;
    expect(() => make({}, {})).toThrow('the first argument must be a function');
  });

  test('a scope parts the keys; one that yields nothing fails the record', async () => {
    const { store } = world();
    const options: Partial<BatchOptions<{ body: string }, unknown, unknown>> = {
      scope: ({ body }) => String(JSON.parse(body).tenant ?? ''),
      fingerprint: false,
    };
    const { send, ran, reasons } = consumer(undefined, { store, ...options } as object);
    const batch = ['a', 'b', undefined].map((tenant, n) => message(`m${n}`, { id: 1, tenant }));
    expect(await send(batch)).toEqual(['m2']);
    expect(ran).toEqual(['m0', 'm1']);
    expect(reasons).toEqual([['m2', 'input-invalid']]);
  });
});
