import { describe, expect, test, vi } from 'vitest';
import {
  attributeKey,
  type BusinessKey,
  bodyKey,
  type DynamoRecordLike,
  deduplicationKey,
  eventBridgeKey,
  idempotent,
  imageKey,
  type KinesisRecordLike,
  messageIdKey,
  type SqsRecordLike,
  scheduleKey,
  snsKey,
} from '../../../src/index.ts';
import { memoryStore } from '../../../src/testing.ts';
import { consumer, message } from './support.ts';

const kinesis = (data: string | Uint8Array): KinesisRecordLike => ({
  kinesis: { sequenceNumber: '1', partitionKey: 'p', data: Buffer.from(data).toString('base64') },
});

/** Every form of one document in which a key function may meet it. */
const forms: [string, (...paths: [string, ...string[]]) => BusinessKey<never>, (json: string) => unknown][] =
  [
    ['bodyKey of SQS', bodyKey, (json) => message('m', json)],
    ['bodyKey of Kinesis', bodyKey, kinesis],
    ['snsKey', snsKey, (json) => message('m', { Type: 'Notification', Message: json })],
    ['eventBridgeKey', eventBridgeKey, (json) => message('m', `{"source":"s","detail":${json || '""'}}`)],
  ];

describe.each(forms)('%s', (_name, keyOf, wrap) => {
  const key = (json: string, ...paths: [string, ...string[]]) => keyOf(...paths)(wrap(json) as never);

  test.each([
    ['{"id":"a"}', ['id'], 'a'],
    ['{"order":{"id":"a"}}', ['order.id'], 'a'],
    ['{"items":[{"sku":"a"},{"sku":"b"}]}', ['items.1.sku'], 'b'],
    ['{"id":7}', ['id'], '7'],
    ['{"id":7.0}', ['id'], '7'],
    ['{"id":0}', ['id'], '0'],
    ['{"id":9007199254740993}', ['id'], '9007199254740993'],
    ['{"id":12345678901234567890}', ['id'], '12345678901234567890'],
    ['{"id":-12345678901234567000001}', ['id'], '-12345678901234567000001'],
    ['{"id":"a","version":3}', ['id', 'version'], '["a","3"]'],
    ['{"id":"a\\",\\"b","version":3}', ['id', 'version'], '["a\\",\\"b","3"]'],
  ] as const)('of %s at %j it is %s', (json, paths, expected) => {
    expect(key(json, ...(paths as unknown as [string]))).toBe(expected);
  });

  test('neighbouring large integers have keys of their own', () => {
    expect(key('{"id":9007199254740993}', 'id')).not.toBe(key('{"id":9007199254740992}', 'id'));
  });

  test.each([
    ['{}'],
    ['{"id":null}'],
    ['{"id":""}'],
    ['{"id":"  "}'],
    ['{"id":true}'],
    ['{"id":{"a":1}}'],
    ['{"id":["a"]}'],
    ['null'],
    ['[]'],
    ['"id"'],
    ['7'],
    [''],
    ['not json'],
  ])('of %s there is none, alone or beside another', (json) => {
    expect([undefined, '  ']).toContain(key(json, 'id'));
    expect(key(json, 'id', 'toString')).toBeUndefined();
    expect(key(json.replace(/^\{/, '{"v":1,').replace(',}', '}'), 'v', 'id')).toBeUndefined();
  });

  test('no member is inherited', () => {
    expect(key('{}', 'constructor.name')).toBeUndefined();
    expect(key('{}', '__proto__')).toBeUndefined();
  });
});

describe('a key function without a path would be one bucket for everything', () => {
  const factories: [string, (...paths: string[]) => unknown][] = [
    ['bodyKey', bodyKey as never],
    ['snsKey', snsKey as never],
    ['eventBridgeKey', eventBridgeKey as never],
    ['imageKey', imageKey as never],
    ['attributeKey', attributeKey as never],
  ];
  test.each(factories)('%s refuses it at construction', (name, make) => {
    for (const paths of [[], [''], ['id', ''], [undefined], [7]] as string[][]) {
      if (name === 'attributeKey' && paths.length > 1) continue;
      expect(() => make(...paths), JSON.stringify(paths)).toThrow(
        expect.objectContaining({ code: 'options', message: expect.stringContaining(name) }),
      );
    }
  });
});

describe('keys beside the body', () => {
  const sqs = (parts: Partial<SqsRecordLike>) => message('m1', 'anything', parts);

  test('attributeKey: an attribute that the producer sets', () => {
    const key = attributeKey('OrderId');
    expect(key(sqs({ messageAttributes: { OrderId: { stringValue: '7' } } }))).toBe('7');
    for (const messageAttributes of [{}, { orderid: { stringValue: '7' } }, { OrderId: {} }]) {
      expect(key(sqs({ messageAttributes }))).toBeUndefined();
    }
    expect(key(sqs({}))).toBeUndefined();
    expect(attributeKey('constructor')(sqs({ messageAttributes: {} }))).toBeUndefined();
  });

  test('deduplicationKey and messageIdKey: the ids of the queue', () => {
    expect(deduplicationKey()(sqs({ attributes: { MessageDeduplicationId: 'd' } }))).toBe('d');
    expect(deduplicationKey()(sqs({ attributes: {} }))).toBeUndefined();
    expect(deduplicationKey()(sqs({}))).toBeUndefined();
    expect(messageIdKey()(sqs({}))).toBe('m1');
  });
});

describe('imageKey', () => {
  const change = (eventName: string, dynamodb: DynamoRecordLike['dynamodb']) => ({ eventName, dynamodb });
  const image = { id: { S: 'a' }, version: { N: '3' }, paid: { BOOL: true } };

  test('the new image, scalars only', () => {
    expect(imageKey('id')(change('INSERT', { NewImage: image }))).toBe('a');
    expect(imageKey('id', 'version')(change('MODIFY', { NewImage: image, OldImage: {} }))).toBe('["a","3"]');
    for (const name of ['paid', 'other', 'constructor']) {
      expect(imageKey(name)(change('INSERT', { NewImage: image }))).toBeUndefined();
      expect(imageKey('id', name)(change('INSERT', { NewImage: image }))).toBeUndefined();
    }
    for (const record of [{}, { dynamodb: {} }]) expect(imageKey('id')(record)).toBeUndefined();
  });

  test('a removal has the old image, and a key of its own: it is not the write of that version', () => {
    const key = imageKey('id', 'version');
    const removed = key(change('REMOVE', { OldImage: image }));
    expect(removed).toBeDefined();
    expect(removed).not.toBe(key(change('INSERT', { NewImage: image })));
    expect(removed).not.toBe(key(change('REMOVE', { OldImage: { ...image, version: { N: '4' } } })));
    expect(imageKey('id', 'other')(change('REMOVE', { OldImage: image }))).toBeUndefined();
  });
});

describe('scheduleKey', () => {
  const event = (arn: string, time = '2026-03-01T00:00:00Z') => ({ resources: [arn], time });
  test.each([
    ['arn:aws:events:eu-central-1:1:rule/nightly', 'nightly:2026-03-01T00:00:00Z'],
    ['arn:aws:events:eu-central-1:1:rule/bus/nightly', 'bus/nightly:2026-03-01T00:00:00Z'],
  ])('of %s it is %s', (arn, expected) => {
    expect(scheduleKey(event(arn))).toBe(expected);
  });

  test.each([[{}], [{ resources: [] }], [{ time: '1' }], [{ resources: ['arn:aws:s3:::b'], time: '1' }]])(
    'of %j there is none',
    (strange) => {
      expect(scheduleKey(strange)).toBeUndefined();
    },
  );
});

test('scheduleKey through idempotent: a tick runs once, whatever else of its event is new', async () => {
  const run = vi.fn(async () => 'closed');
  const nightly = idempotent<object, string>(run, {
    store: memoryStore(),
    operation: 'close-books',
    key: scheduleKey,
  });
  const tick = (id: string, time: string) => ({
    id,
    time,
    resources: ['arn:aws:events:eu-central-1:1:rule/nightly'],
    detail: { id },
  });
  for (const id of ['1', 'a retry', 'by hand']) expect(await nightly(tick(id, 'monday'))).toBe('closed');
  expect(run).toHaveBeenCalledTimes(1);
  await nightly(tick('2', 'tuesday'));
  expect(run).toHaveBeenCalledTimes(2);
  await expect(nightly({ id: '3' })).rejects.toMatchObject({ code: 'key-missing' });
});

describe('envelopes: what was published counts, not the envelope', () => {
  const sns = (id: string, published: object, at: string) =>
    message(id, {
      Type: 'Notification',
      MessageId: `sns-${id}`,
      TopicArn: 'arn:aws:sns:eu-central-1:1:orders',
      Message: JSON.stringify(published),
      Timestamp: at,
      Signature: `signed-${id}`,
      UnsubscribeURL: `https://sns.example/?${id}`,
    });
  const bridge = (id: string, detail: object, at: string, parts: object = {}) =>
    message(id, {
      version: '0',
      id: `event-${id}`,
      source: 'shop',
      'detail-type': 'OrderPlaced',
      time: at,
      detail,
      ...parts,
    });

  test('an SNS notification that is published again replays and is no reused key', async () => {
    const { send, ran, reasons } = consumer(undefined, { key: snsKey('id') });
    expect(await send([sns('m1', { id: 7, sku: 'a' }, '2026-01-01T00:00:00Z')])).toEqual([]);
    expect(await send([sns('m2', { sku: 'a', id: 7 }, '2026-01-02T00:00:00Z')])).toEqual([]);
    expect(await send([sns('m3', { id: 7, sku: 'b' }, '2026-01-03T00:00:00Z')])).toEqual(['m3']);
    expect(ran).toEqual(['m1']);
    expect(reasons).toEqual([['m3', 'key-reused']]);
  });

  test('an EventBridge event that is sent again replays; its source, type and detail count', async () => {
    const { send, ran, reasons } = consumer(undefined, { key: eventBridgeKey('id') });
    expect(await send([bridge('m1', { id: 7, sku: 'a' }, '2026-01-01T00:00:00Z')])).toEqual([]);
    expect(await send([bridge('m2', { sku: 'a', id: 7 }, '2026-01-02T00:00:00Z')])).toEqual([]);
    expect(await send([bridge('m3', { id: 7, sku: 'b' }, '2026-01-01T00:00:00Z')])).toEqual(['m3']);
    expect(
      await send([bridge('m4', { id: 7, sku: 'a' }, '2026-01-01T00:00:00Z', { 'detail-type': 'OrderPaid' })]),
    ).toEqual(['m4']);
    expect(ran).toEqual(['m1']);
    expect(reasons.map(([, reason]) => reason)).toEqual(['key-reused', 'key-reused']);
  });

  test('an allow-list chooses within what was published', async () => {
    const inSns = consumer(undefined, { key: snsKey('id'), fingerprint: { body: ['id', 'sku'] } });
    await inSns.send([sns('m1', { id: 7, sku: 'a', at: 1 }, '1')]);
    expect(await inSns.send([sns('m2', { id: 7, sku: 'a', at: 2 }, '2')])).toEqual([]);
    expect(await inSns.send([sns('m3', { id: 7, sku: 'b', at: 1 }, '1')])).toEqual(['m3']);
    const inBridge = consumer(undefined, {
      key: eventBridgeKey('id'),
      fingerprint: { body: ['detail.sku'] },
    });
    await inBridge.send([bridge('m1', { id: 7, sku: 'a', at: 1 }, '1')]);
    expect(await inBridge.send([bridge('m2', { id: 7, sku: 'a', at: 2 }, '2')])).toEqual([]);
    expect(await inBridge.send([bridge('m3', { id: 7, sku: 'b', at: 1 }, '1')])).toEqual(['m3']);
  });

  test('without the envelope (raw delivery) snsKey finds nothing, and says so', async () => {
    const { send, reasons } = consumer(undefined, { key: snsKey('id') });
    expect(await send([message('m1', { id: 7 })])).toEqual(['m1']);
    expect(reasons).toEqual([['m1', 'key-missing']]);
  });
});
