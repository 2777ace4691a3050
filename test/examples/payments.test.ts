import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { payments } from '../../examples/payments/client.ts';
import type { Fault } from '../../examples/payments/faults.ts';
import { type ProviderOptions, startProvider } from '../../examples/payments/provider.ts';
import { end, spawnBound } from '../../tools/local/children.ts';

const order = { amount: 1250, currency: 'EUR', orderId: 'order-7' };

async function provide(options?: ProviderOptions) {
  const provider = await startProvider(options);
  onTestFinished(() => provider.stop());
  return provider;
}

/** A request of the test's own, to see what goes over the wire. */
async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${url}/charges`, { method: 'POST', body: text, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function get(url: string, path: string) {
  const response = await fetch(`${url}${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Something that answers as no provider should. */
async function strange(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const caught = async (call: Promise<unknown>): Promise<Error & { statusCode?: number }> =>
  call.then(
    (value) => expect.fail(`nothing was thrown: ${JSON.stringify(value)}`),
    (error: Error) => error,
  );

describe('keys', () => {
  test.each(['merged', 'ignored'] as const)(
    '%s: a charge is answered 201 and is in the books',
    async (keys) => {
      const { url, ledger } = await provide({ keys });
      const { status, body } = await post(url, order, { 'Idempotency-Key': 'k' });
      expect(status).toBe(201);
      expect(body).toEqual({ chargeId: expect.stringMatching(/^[0-9a-f-]{36}$/), ...order, reference: 'k' });
      expect(ledger()).toEqual({ arrived: 1, charges: [body] });
    },
  );

  test('merged: the same key gets the same charge, also when its requests come at once', async () => {
    const { url, ledger } = await provide();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post(url, order, { 'Idempotency-Key': 'k' })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(new Set(answers.map(({ body }) => body.chargeId)).size).toBe(1);
    expect(ledger()).toMatchObject({ arrived: 8, charges: [{ reference: 'k' }] });
    expect(ledger().charges).toHaveLength(1);
  });

  test('merged: the fields count, not their order; another order under the key is refused with 422', async () => {
    const { url, ledger } = await provide();
    await post(url, order, { 'Idempotency-Key': 'k' });
    const turned = await post(
      url,
      { orderId: 'order-7', currency: 'EUR', amount: 1250.0 },
      { 'Idempotency-Key': 'k' },
    );
    expect(turned.status).toBe(200);
    for (const other of [{ amount: 1 }, { currency: 'USD' }, { orderId: 'order-8' }, { card: 'visa' }]) {
      expect((await post(url, { ...order, ...other }, { 'Idempotency-Key': 'k' })).status).toBe(422);
    }
    expect(ledger().charges).toHaveLength(1);
  });

  test('ignored: every request charges, and the query finds them all', async () => {
    const { url, ledger } = await provide({ keys: 'ignored' });
    const first = await post(url, order, { 'Idempotency-Key': 'k' });
    const second = await post(url, { ...order, amount: 1 }, { 'Idempotency-Key': 'k' });
    await post(url, order, { 'Idempotency-Key': 'other' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(await get(url, '/charges?reference=k')).toEqual({
      status: 200,
      body: { charges: [first.body, second.body] },
    });
    expect(ledger().charges).toHaveLength(3);
    expect(ledger('k').charges).toHaveLength(2);
  });

  test('no key: every request charges, without a reference', async () => {
    const { url, ledger } = await provide();
    await post(url, order);
    const { status, body } = await post(url, order);
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('reference');
    expect(ledger().charges).toHaveLength(2);
  });
});

describe('refusals', () => {
  test('a declined card and an amount above the limit: 402, no charge, and the key may be tried again', async () => {
    const { url, ledger } = await provide({ amountLimit: 1250 });
    const key = { 'Idempotency-Key': 'k' };
    expect(await post(url, { ...order, card: 'declined' }, key)).toEqual({
      status: 402,
      body: { error: 'the card was declined' },
    });
    expect((await post(url, { ...order, amount: 1251 }, key)).status).toBe(402);
    expect(ledger()).toEqual({ arrived: 2, charges: [] });
    expect((await post(url, order, key)).status).toBe(201);
  });

  test.each([
    ['body', '{', {}],
    ['body', '[]', {}],
    ['body', 'null', {}],
    ['amount', { currency: 'EUR' }, {}],
    ['amount', { ...order, amount: 0 }, {}],
    ['amount', { ...order, amount: 1.5 }, {}],
    ['amount', { ...order, amount: '1250' }, {}],
    ['currency', { ...order, currency: 'eur' }, {}],
    ['currency', { amount: 1 }, {}],
    ['orderId', { ...order, orderId: 7 }, {}],
    ['card', { ...order, card: 'x'.repeat(201) }, {}],
    ['ammount', { ...order, ammount: 1 }, {}],
    ['Idempotency-Key', order, { 'Idempotency-Key': 'x'.repeat(256) }],
    ['Idempotency-Key', order, { 'Idempotency-Key': '' }],
    ['x-fault', order, { 'x-fault': 'drop' }],
    ['x-fault', order, { 'x-fault': 'apply-after=60001' }],
  ])('400 names the field %s of %j %j', async (field, body, headers) => {
    const { url, ledger } = await provide();
    const answer = await post(url, body, headers as Record<string, string>);
    expect(answer).toEqual({ status: 400, body: { field, error: expect.stringMatching(`^${field} `) } });
    expect(ledger()).toEqual({ arrived: 0, charges: [] });
  });

  test('a key that is sent twice is no key', async () => {
    const { url } = await provide();
    const headers = new Headers([
      ['Idempotency-Key', 'a'],
      ['Idempotency-Key', 'b'],
    ]);
    const response = await fetch(`${url}/charges`, { method: 'POST', headers, body: JSON.stringify(order) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ field: 'Idempotency-Key' });
  });

  test('a body of more than 16 KiB: 413, and the server goes on', async () => {
    const { url, ledger } = await provide();
    expect(await post(url, ' '.repeat(1024 * 1024))).toMatchObject({ status: 413, body: { field: 'body' } });
    expect(ledger().arrived).toBe(0);
    expect((await post(url, order)).status).toBe(201);
  });

  test('a query without a reference is 400, another path or method 404', async () => {
    const { url } = await provide();
    expect(await get(url, '/charges')).toMatchObject({ status: 400, body: { field: 'reference' } });
    expect(await get(url, '/ledger?charges=many')).toMatchObject({ status: 400, body: { field: 'charges' } });
    expect(await get(url, '/ledger?wait=60001')).toMatchObject({ status: 400, body: { field: 'wait' } });
    expect((await get(url, '/refunds')).status).toBe(404);
    expect((await fetch(`${url}/charges`, { method: 'DELETE' })).status).toBe(404);
  });

  test('options that make no sense throw', async () => {
    await expect(startProvider({ keys: 'merge' as 'merged' })).rejects.toThrow(`not "merge"`);
    await expect(startProvider({ amountLimit: Number.NaN })).rejects.toThrow('not NaN');
    const { on } = await provide();
    expect(() => on('charge', 'drop' as Fault)).toThrow('"drop" is no fault');
    expect(() => payments({ url: 'http://127.0.0.1', timeout: 0 })).toThrow('not 0');
  });
});

describe('the client', () => {
  test('charges, and finds by reference what is there', async () => {
    const { url } = await provide();
    const psp = payments({ url });
    const charge = await psp.charge(order, { idempotencyKey: 'a&b=c' });
    expect(charge).toEqual({ chargeId: expect.any(String), ...order, reference: 'a&b=c' });
    expect(await psp.charge(order, { idempotencyKey: 'a&b=c' })).toEqual(charge);
    expect(await psp.find('a&b=c')).toEqual(charge);
    expect(await psp.find('a')).toBeUndefined();
  });

  test('finds the first of several charges', async () => {
    const { url } = await provide({ keys: 'ignored' });
    const psp = payments({ url });
    const first = await psp.charge(order, { idempotencyKey: 'k' });
    await psp.charge(order, { idempotencyKey: 'k' });
    expect(await psp.find('k')).toEqual(first);
  });

  test('a 4xx is an Error with its status', async () => {
    const { url } = await provide();
    const psp = payments({ url });
    const declined = await caught(psp.charge({ ...order, card: 'declined' }));
    expect(declined).toMatchObject({ name: 'Error', statusCode: 402 });
    expect(declined.message).toContain('the card was declined');
    expect(await caught(psp.charge({ ...order, amount: -1 }))).toMatchObject({ statusCode: 400 });
    expect(await caught(psp.find(''))).toMatchObject({ statusCode: 400 });
    await psp.charge(order, { idempotencyKey: 'k' });
    const reused = await caught(psp.charge({ ...order, amount: 1 }, { idempotencyKey: 'k' }));
    expect(reused).toMatchObject({ statusCode: 422 });
  });

  test('find throws on a 404: a wrong path is not the absence of a charge', async () => {
    const url = await strange((_request, response) => response.writeHead(404).end('{}'));
    expect(await caught(payments({ url }).find('k'))).toMatchObject({ statusCode: 404 });
  });

  test.each<[string, RegExp, RequestListener]>([
    ['a 500', /answered 500/, (_request, response) => response.writeHead(500).end('{"charges":[]}')],
    ['a redirect', /answered 307/, (_request, response) => response.writeHead(307, { location: '/x' }).end()],
    ['no JSON', /no JSON/, (_request, response) => response.end('<html>')],
    ['JSON null', /no charge|no list/, (_request, response) => response.end('null')],
    ['an empty object', /no charge|no list/, (_request, response) => response.end('{}')],
    ['a list of nothing', /no charge/, (_request, response) => response.end('{"charges":[null]}')],
    [
      'half an answer',
      /connection/,
      (request, response) => {
        response.writeHead(200, { 'content-length': 99 }).write('{}', () => request.socket.end());
      },
    ],
  ])('%s is an Error without a status', async (_name, message, listener) => {
    let seen = 0;
    const url = await strange((request, response) => {
      seen += 1;
      listener(request, response);
    });
    for (const error of [
      await caught(payments({ url }).charge(order, { idempotencyKey: 'k' })),
      await caught(payments({ url }).find('k')),
    ]) {
      expect(error.name).toBe('Error');
      expect(error.message).toMatch(message);
      expect(error).not.toHaveProperty('statusCode');
    }
    expect(seen).toBe(2);
  });

  test('nobody there: an Error without a status that says why', async () => {
    const { url, stop } = await startProvider();
    await stop();
    const error = await caught(payments({ url }).charge(order));
    expect(error.message).toBe('the connection to the payment provider failed');
    expect(error.cause).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    expect(error).not.toHaveProperty('statusCode');
  });

  test('an answer that begins and does not end is a TimeoutError', async () => {
    const url = await strange((_request, response) => response.write('{'));
    expect(await caught(payments({ url, timeout: 100 }).find('k'))).toMatchObject({ name: 'TimeoutError' });
  });

  test('the caller’s signal ends the wait with its reason, not the charge', async () => {
    const { url, until } = await provide();
    const leaving = new AbortController();
    const psp = payments({ url, headers: { 'x-fault': 'apply-after=200' } });
    const call = caught(psp.charge(order, { idempotencyKey: 'k', signal: leaving.signal }));
    await until({ arrived: 1 });
    const reason = new Error('the lease is over');
    leaving.abort(reason);
    expect(await call).toBe(reason);
    expect((await until({ charges: 1 })).charges).toMatchObject([{ reference: 'k' }]);
  });
});

describe('faults', () => {
  const suffering = (url: string, fault: Fault, timeout = 5_000) =>
    payments({ url, timeout, headers: { 'x-fault': fault } });

  test('apply-after: charged although the caller has gone, and absent until then', async () => {
    const { url, ledger, until } = await provide({ keys: 'ignored' });
    const call = caught(suffering(url, 'apply-after=1000', 100).charge(order, { idempotencyKey: 'k' }));
    expect(await call).toMatchObject({ name: 'TimeoutError' });
    expect(ledger()).toEqual({ arrived: 1, charges: [] });
    expect(await payments({ url }).find('k')).toBeUndefined();
    await until({ charges: 1 });
    expect(await payments({ url }).find('k')).toMatchObject({ reference: 'k' });
  });

  test.each([
    ['merged', 1],
    ['ignored', 2],
  ] as const)('apply-after, and a second attempt meanwhile: keys %s, %i charges', async (keys, charges) => {
    const { url, ledger, until } = await provide({ keys });
    const late = suffering(url, 'apply-after=500').charge(order, { idempotencyKey: 'k' });
    await until({ arrived: 1 });
    const early = await payments({ url }).charge(order, { idempotencyKey: 'k' });
    expect(ledger().charges).toEqual([early]);
    expect((await late).chargeId === early.chargeId).toBe(keys === 'merged');
    expect(ledger().charges).toHaveLength(charges);
  });

  test('answer-after: charged at once, answered late', async () => {
    const { url, until } = await provide();
    let answered = false;
    const call = suffering(url, 'answer-after=500')
      .charge(order)
      .finally(() => {
        answered = true;
      });
    const { charges } = await until({ charges: 1 });
    expect(answered).toBe(false);
    expect(await call).toEqual(charges[0]);
  });

  test.each([
    ['drop-before', 0],
    ['drop-after', 1],
    ['unavailable', 0],
  ] as const)('%s: an Error without a status, %i charges', async (fault, charges) => {
    const { url, ledger } = await provide();
    const error = await caught(suffering(url, fault).charge(order, { idempotencyKey: 'k' }));
    expect(error.name).toBe('Error');
    expect(error).not.toHaveProperty('statusCode');
    expect(ledger()).toMatchObject({ arrived: 1 });
    expect(ledger().charges).toHaveLength(charges);
  });

  test.each(['unavailable', 'drop-before', 'drop-after'] as const)(
    '%s: a query cannot tell',
    async (fault) => {
      const { url } = await provide();
      await payments({ url }).charge(order, { idempotencyKey: 'k' });
      const error = await caught(suffering(url, fault).find('k'));
      expect(error.name).toBe('Error');
      expect(error).not.toHaveProperty('statusCode');
      if (fault === 'unavailable') expect(error.message).toContain('503');
    },
  );

  test('on: faults are for one kind of request, queue up, and yield to the header', async () => {
    const { url, ledger, on } = await provide();
    const psp = payments({ url });
    on('find', 'unavailable', 2);
    on('find', 'drop-before');
    await psp.charge(order, { idempotencyKey: 'k' });
    expect((await caught(psp.find('k'))).message).toContain('503');
    expect(await caught(suffering(url, 'answer-after=2000', 100).find('k'))).toMatchObject({
      name: 'TimeoutError',
    });
    expect((await caught(psp.find('k'))).message).toContain('503');
    expect((await caught(psp.find('k'))).message).toContain('connection');
    expect(await psp.find('k')).toEqual(ledger().charges[0]);
  });
});

describe('the books', () => {
  test('GET /ledger shows everything, or one reference', async () => {
    const { url, ledger } = await provide();
    await post(url, order, { 'Idempotency-Key': 'a' });
    await post(url, order, { 'Idempotency-Key': 'b' });
    await post(url, { ...order, card: 'declined' });
    expect(await get(url, '/ledger')).toEqual({ status: 200, body: ledger() });
    expect(ledger()).toMatchObject({ arrived: 3, charges: [{ reference: 'a' }, { reference: 'b' }] });
    const one = await get(url, '/ledger?reference=b');
    expect(one.body).toEqual({ arrived: 1, charges: [ledger().charges[1]] });
  });

  test('GET /ledger waits: for the arrival before the charge, then for the charge', async () => {
    const { url, ledger } = await provide();
    const arrival = get(url, '/ledger?arrived=1&reference=k');
    const late = post(url, order, { 'Idempotency-Key': 'k', 'x-fault': 'apply-after=200' });
    expect((await arrival).body).toEqual({ arrived: 1, charges: [] });
    const charged = await get(url, '/ledger?charges=1&reference=k');
    expect(charged.body).toEqual({ arrived: 1, charges: [(await late).body] });
    expect(ledger().charges).toHaveLength(1);
  });

  test('what does not come is 504, never a view that looks like an answer', async () => {
    const { url, until } = await provide();
    await post(url, order);
    const { status, body } = await get(url, '/ledger?charges=2&wait=50');
    expect(status).toBe(504);
    expect(body.error).toContain('did not come within 50 ms: 1 arrived, 1 charged');
    await expect(until({ reference: 'k', arrived: 1 }, 50)).rejects.toThrow('0 arrived');
  });

  test('are full at 10,000 requests: 503, and queries still work', async () => {
    const { url, ledger } = await provide();
    for (let round = 0; round < 100; round += 1)
      await Promise.all(Array.from({ length: 100 }, () => post(url, order, { 'Idempotency-Key': 'k' })));
    expect(await post(url, order)).toEqual({ status: 503, body: { error: 'the books are full' } });
    expect(ledger().arrived).toBe(10_000);
    expect(await payments({ url }).find('k')).toEqual(ledger().charges[0]);
  });

  test('stop breaks what is under way; a delayed charge is never made; the books stay readable', async () => {
    const { url, ledger, until, stop } = await provide();
    const late = caught(post(url, order, { 'x-fault': 'apply-after=500' }));
    await until({ arrived: 1 });
    const waiting = caught(until({ charges: 1 }));
    const half = connect(Number(new URL(url).port), '127.0.0.1');
    half.write('POST /charges HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{');
    const broken = once(half.resume(), 'close');
    await sleep(50);
    await Promise.all([stop(), stop(), broken]);
    expect((await waiting).message).toBe('the provider was stopped');
    expect((await late).message).toBe('fetch failed');
    await sleep(500);
    expect(ledger()).toEqual({ arrived: 1, charges: [] });
    await stop();
  });

  test('a request that breaks off in its body never arrived', async () => {
    const { url, ledger } = await provide();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('POST /charges HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{"amount":1');
    await sleep(50);
    socket.destroy();
    expect((await post(url, order)).status).toBe(201);
    expect(ledger().arrived).toBe(1);
  });
});

test('a process that is killed in mid-call is charged all the same', async () => {
  const { url, ledger, until } = await provide({ keys: 'ignored' });
  const client = new URL('../../examples/payments/client.ts', import.meta.url);
  const code = `import { payments } from '${client.href}';
    const psp = payments({ url: '${url}', headers: { 'x-fault': 'apply-after=1500' } });
    await psp.charge(${JSON.stringify(order)}, { idempotencyKey: 'k' });`;
  const child = spawnBound(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' });
  await until({ arrived: 1, reference: 'k' });
  await end(child);
  expect(child.signalCode).toBe('SIGKILL');
  expect(ledger('k')).toEqual({ arrived: 1, charges: [] });
  expect((await until({ charges: 1 })).charges).toMatchObject([{ orderId: 'order-7', reference: 'k' }]);
});
