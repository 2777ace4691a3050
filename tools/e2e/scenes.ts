import { compare, type Must, type Shown } from '../demo/scene.ts';
import { type Answer, newPayment, type Shop, until } from './shop.ts';

/** Plays against the deployed shop and says what it showed. */
export type Scene = (shop: Shop) => Promise<Shown>;

function shown(title: string, answers: readonly Answer[], effects: number, must: Must): Shown {
  const counts = new Map<string, number>();
  for (const { label } of answers) counts.set(label, (counts.get(label) ?? 0) + 1);
  return compare({ title, sent: answers.length, effects, answers: counts }, must);
}

const stranger: Scene = async (shop) => {
  const { payment, key } = newPayment();
  const answers = [await shop.pay(payment, { key, tenant: 'eve' })];
  return shown('without a token that the authorizer knows', answers, await shop.chargesOf(payment.amount), {
    effects: 0,
    answers: { 403: 1 },
  });
};

const replay: Scene = async (shop) => {
  const { payment, key } = newPayment();
  const answers = [await shop.pay(payment, { key }), await shop.pay(payment, { key })];
  const scene = shown('sent twice', answers, await shop.chargesOf(payment.amount), {
    effects: 1,
    answers: { 201: 1, '201 replayed': 1 },
  });
  const [first, second] = answers.map(({ body }) => JSON.stringify(body));
  const isSame = first === second ? [] : ['the replay is another answer'];
  const lines = [...(await shop.payLogs()).values()].flat();
  const isMeasured = lines.some(
    (line) => line.includes(`{"table":"${shop.table}"`) && line.includes('"Replays":1'),
  );
  return {
    ...scene,
    faults: [...scene.faults, ...isSame, ...(isMeasured ? [] : ['no metric of the replay'])],
  };
};

const storm: Scene = async (shop) => {
  const { payment, key } = newPayment();
  const before = await shop.payLogs();
  const answers = await Promise.all(Array.from({ length: 20 }, () => shop.pay(payment, { key })));
  const scene = shown('sent 20 times at once', answers, await shop.chargesOf(payment.amount), {
    effects: 1,
    answers: (seen) => seen.get('201') === 1 && [...seen.keys()].every((label) => mayFollow.includes(label)),
  });
  const after = [...(await shop.payLogs())];
  const processes = after.filter(([stream, { length }]) => length > (before.get(stream)?.length ?? 0)).length;
  const title = `${scene.title}, ${processes} processes`;
  return { ...scene, title, faults: [...scene.faults, ...(processes > 5 ? [] : ['too few processes'])] };
};

/** To whom the first is still running, or has just ended. */
const mayFollow: readonly string[] = ['201', '201 replayed', '409 busy'];

const mismatch: Scene = async (shop) => {
  const { payment, key } = newPayment();
  const other = { ...payment, address: 'elsewhere' };
  const answers = [await shop.pay(payment, { key }), await shop.pay(other, { key })];
  return shown('one key, two requests', answers, await shop.chargesOf(payment.amount), {
    effects: 1,
    answers: { 201: 1, '422 key-reused': 1 },
  });
};

const tenants: Scene = async (shop) => {
  const { payment, key } = newPayment();
  const answers = [await shop.pay(payment, { key }), await shop.pay(payment, { key, tenant: 'bob' })];
  return shown('one key, two tenants', answers, await shop.chargesOf(payment.amount), {
    effects: 2,
    answers: { 201: 2 },
  });
};

const status: Scene = async (shop) => {
  const { payment, key } = newPayment();
  const before = await shop.status(key);
  await shop.pay(payment, { key });
  const answers = [before, await shop.status(key), await shop.status(key, 'bob')];
  return shown('asked whether it happened', answers, await shop.chargesOf(payment.amount), {
    effects: 1,
    answers: { '404 unknown': 2, '200 completed': 1 },
  });
};

const outbox: Scene = async (shop) => {
  const { payment, key } = newPayment();
  const answer = await shop.pay(payment, { key });
  await until('the parcel', async () => (await shop.parcelsOf(answer.body.id)) > 0);
  await shop.relayAgain(answer.body.id, payment.address);
  await shop.shipped();
  return shown('paid, relayed twice, shipped', [answer], await shop.parcelsOf(answer.body.id), {
    effects: 1,
    answers: { 201: 1 },
  });
};

const timeout: Scene = async (shop) => {
  const { payment, key } = newPayment({ card: 'hangs' });
  const before = (await shop.sweeps()).length;
  const answers = [await shop.pay(payment, { key }), await shop.pay(payment, { key })];
  await until('a sweep that settles it', async () =>
    (await shop.sweeps()).slice(before).some(({ released }) => released > 0),
  );
  answers.push(await shop.pay(payment, { key }));
  return shown('killed after the charge, swept, retried', answers, await shop.chargesOf(payment.amount), {
    effects: 1,
    answers: { 502: 1, '409 busy': 1, 201: 1 },
  });
};

const poison: Scene = async (shop) => {
  const { payment, key } = newPayment({ address: 'nowhere' });
  const answer = await shop.pay(payment, { key });
  const letter = await shop.deadLetter();
  const tooEarly = await shop.parcelsOf(answer.body.id);
  await shop.mendCarrier();
  await shop.redrive(letter);
  await until('the parcel', async () => (await shop.parcelsOf(answer.body.id)) > 0);
  await shop.redrive(letter);
  await shop.shipped();
  return shown(
    'a dead letter, mended, redriven twice',
    [answer],
    tooEarly + (await shop.parcelsOf(answer.body.id)),
    {
      effects: 1,
      answers: { 201: 1 },
    },
  );
};

/** One after the other: the first ones look at counts of processes and lines. */
export const quick: readonly Scene[] = [stranger, replay, storm, mismatch, tenants, status, outbox];

/** They wait for the schedule and for redeliveries; side by side. */
export const slow: readonly Scene[] = [timeout, poison];
