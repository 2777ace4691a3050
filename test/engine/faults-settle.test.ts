import { expect, test } from 'vitest';
import { faultyHandler } from '../support/lossy-handler.ts';

const { deliver, proxy, events, onlyRecord } = await faultyHandler();
const typesOf = (): string[] => events.map(({ type }) => type);

test('S02: the completion lands, its reply is lost: no error, no second run, the outcome stands', async () => {
  proxy.on('UpdateItem', 'drop-reply');
  const first = await deliver('k');
  expect(first).toMatchObject({ answer: { statusCode: 201, body: 'run 1' }, runs: 1 });
  expect(proxy.writes()).toEqual(['PutItem', 'UpdateItem', 'UpdateItem']);
  expect(typesOf()).toEqual(['claimed', 'completed']);
  const replay = await deliver('k');
  expect(replay).toMatchObject({ answer: { statusCode: 201, body: 'run 1' }, runs: 1 });
  expect(replay.answer.headers).toMatchObject({ 'Idempotency-Replayed': 'true' });
});

test("S02: when every reply of a whole call is lost, the engine's own retry finds the completion done", async () => {
  proxy.on('UpdateItem', 'drop-reply', 3);
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
  expect(typesOf()).toEqual(['claimed', 'completed']);
  expect(await onlyRecord('k')).toMatchObject({
    state: 'completed',
    outcome: expect.stringContaining('run 1'),
  });
});

test("S02: the release lands, its reply is lost: the handler's error goes out, the next delivery runs", async () => {
  proxy.on('UpdateItem', 'drop-reply');
  expect(await deliver('k', 'throws')).toMatchObject({
    answer: { statusCode: 500, body: 'a passing failure' },
    runs: 1,
  });
  expect(typesOf()).toEqual(['claimed', 'released']);
  expect(await onlyRecord('k')).toMatchObject({ state: 'released' });
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201, body: 'run 2' }, runs: 2 });
});

test.each(['reset', 'throttle', 'fail'] as const)(
  'a completion that meets a %s is tried again',
  async (fault) => {
    proxy.on('UpdateItem', fault, 4);
    expect(await deliver('k')).toMatchObject({ answer: { statusCode: 201 }, runs: 1 });
    expect(typesOf()).toEqual(['claimed', 'completed']);
    expect(await onlyRecord('k')).toMatchObject({ state: 'completed' });
  },
);

test('a slow answer to the completion delays the caller by one attempt and no more', async () => {
  proxy.on('UpdateItem', { delayReply: 5000 });
  const { answer, milliseconds } = await deliver('k');
  expect(answer.statusCode).toBe(201);
  expect(milliseconds).toBeLessThan(2000);
});

test('M09: a completion that fails for good does not take the success back; the claim is left to its lease', async () => {
  proxy.on('UpdateItem', 'deny', 100);
  const first = await deliver('k', 'ok', { remaining: 1500 });
  expect(first).toMatchObject({ answer: { statusCode: 201, body: 'run 1' }, runs: 1 });
  expect(first.milliseconds).toBeLessThan(1500);
  expect(events.map(({ type }) => type)).toEqual(['claimed', 'store-failed']);
  expect(events.at(-1)).toMatchObject({ at: 'complete', error: { code: 'store' } });
  expect(await onlyRecord('k')).toMatchObject({ state: 'claimed', attempt: 1 });
  proxy.heal();
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 409 }, code: 'busy', runs: 1 });
});

test("a release that fails for good does not hide the handler's error, and nothing runs again before the lease", async () => {
  proxy.on('UpdateItem', 'deny', 100);
  expect(await deliver('k', 'throws', { remaining: 1000 })).toMatchObject({
    answer: { statusCode: 500, body: 'a passing failure' },
    runs: 1,
  });
  expect(events.at(-1)).toMatchObject({ type: 'store-failed', at: 'release' });
  proxy.heal();
  expect(await deliver('k')).toMatchObject({ answer: { statusCode: 409 }, code: 'busy', runs: 1 });
});
