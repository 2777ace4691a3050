import { expect, test } from 'vitest';
import { faultyHandler } from '../support/lossy-handler.ts';

const { deliver, proxy, onlyRecord } = await faultyHandler();

test('S01: the claim lands, its reply is lost, the SDK retries: the handler runs exactly once, 201', async () => {
  proxy.on('PutItem', 'drop-reply');
  const first = await deliver('k');
  expect(first).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
  expect(proxy.writes()).toEqual(['PutItem', 'PutItem', 'UpdateItem']);
  expect(await onlyRecord('k')).toMatchObject({ state: 'completed', attempt: 1 });
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201, body: first.answer.body }, runs: 1 });
});

test('S01: the same when two replies in a row are lost', async () => {
  proxy.on('PutItem', 'drop-reply', 2);
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
});

test('S01: a take-over whose reply is lost is a win as well', async () => {
  expect(await deliver('k', 'throws')).toMatchObject({ answer: { statusCode: 500 }, runs: 1 });
  proxy.heal();
  proxy.on('UpdateItem', 'drop-reply');
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 2 });
  expect(proxy.writes()).toEqual(['PutItem', 'UpdateItem', 'UpdateItem', 'UpdateItem']);
  expect(await onlyRecord('k')).toMatchObject({ state: 'completed', attempt: 2 });
});

test('S01 S03: with a duplicate on the way, a lost reply still makes one winner', async () => {
  proxy.on('PutItem', 'drop-reply', 2);
  const both = await Promise.all([deliver('k', 'slow'), deliver('k', 'slow')]);
  expect(new Set(both.map(({ answer }) => answer.statusCode))).toEqual(new Set([201, 409]));
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
});

test('a reset before the engine saw the claim is retried: one run', async () => {
  proxy.on('PutItem', 'reset', 2);
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
  expect(proxy.writes()).toEqual(['PutItem', 'PutItem', 'PutItem', 'UpdateItem']);
});

test('a throttled claim is retried: one run', async () => {
  proxy.on('PutItem', 'throttle');
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
});

test('a claim that failed once with a 500 is retried: one run', async () => {
  proxy.on('PutItem', 'fail');
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
});

test('one slow answer is not waited for: the second attempt finds that the claim is ours', async () => {
  proxy.on('PutItem', { delayReply: 5000 });
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
});

test('a claim whose every reply is lost is withdrawn: 503, and the next delivery runs', async () => {
  proxy.on('PutItem', 'drop-reply', 3);
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 503 }, code: 'store', runs: 0 });
  expect(await onlyRecord('k')).toMatchObject({ state: 'released' });
  // nothing had run under it, so the key is not bound to that body
  expect(await onlyRecord('k')).not.toHaveProperty('fingerprint');
  expect(await deliver('k', 'ok', { body: 'another' })).toMatchObject({
    answer: { statusCode: 201 },
    runs: 1,
  });
});

test('a take-over whose every reply is lost is withdrawn as well, and the key stays bound to its body', async () => {
  await deliver('k', 'throws');
  proxy.on('UpdateItem', 'drop-reply', 3);
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 503 }, runs: 1 });
  expect(await onlyRecord('k')).toMatchObject({ state: 'released', attempt: 2 });
  expect(await deliver('k', 'ok', { body: 'another' })).toMatchObject({
    answer: { statusCode: 422 },
    runs: 1,
  });
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 2 });
});

test('every answer slower than the call budget: 503, withdrawn, and the next delivery runs', async () => {
  proxy.on('PutItem', { delayReply: 5000 }, 3);
  const slow = await deliver('k');
  expect(slow).toMatchObject({ answer: { statusCode: 503 }, code: 'store', runs: 0 });
  expect(slow.milliseconds).toBeLessThan(2000);
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
});

test('a claim that lands after its sender gave up and withdrew is never run over', async () => {
  proxy.on('PutItem', { delay: 2000 }, 3);
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 503 }, runs: 0 });
  await expect.poll(() => onlyRecord('k'), { timeout: 5000 }).toMatchObject({ state: 'claimed' });
  // it looks like a run that nobody ended: busy for its lease, then in doubt
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 409 }, code: 'busy', runs: 0 });
});
