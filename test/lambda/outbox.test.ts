import { describe, expect, test, vi } from 'vitest';
import type { Outgoing } from '../../src/domain/companion.ts';
import { eventKey, idempotent } from '../../src/index.ts';
import { type OutboxDelivery, outboxHandler } from '../../src/outbox.ts';
import { memoryStore } from '../../src/testing.ts';

/** What a commit puts into the outbox, as records of the table's stream. */
async function committed(...orders: readonly { id: string; events: readonly object[] }[]) {
  const outbox: Outgoing[] = [];
  const place = idempotent(
    async ({ events }: { id: string; events: readonly object[] }, claim) =>
      claim.commit('placed', [], { outbox: events as never }),
    { store: memoryStore({ outbox, now: () => 1_900_000_000_000 }), operation: 'place', key: ({ id }) => id },
  );
  for (const order of orders) await place(order);
  return outbox.map((item, index) => recordOf(item, `${index + 1}`));
}

function recordOf(
  { id, operation, record, events, createdAt }: Outgoing,
  SequenceNumber: string,
  eventName = 'INSERT',
) {
  const NewImage = {
    id: { S: id },
    operation: { S: operation },
    record: { S: record },
    events: { S: events },
    createdAt: { N: String(createdAt) },
  };
  return { eventName, dynamodb: { SequenceNumber, Keys: { id: { S: id } }, NewImage } };
}

/** A sender that fails for some types. */
function sending(...failing: string[]) {
  const sent: OutboxDelivery[] = [];
  const send = async (event: OutboxDelivery): Promise<void> => {
    if (failing.includes(event.type)) throw new Error('the bus is down');
    sent.push(event);
  };
  return { sent, send, types: () => sent.map(({ type }) => type) };
}

describe('outboxHandler', () => {
  test('relays the events of each commit in their order, with all that they say', async () => {
    const details = [{ a: [1, null, 'x'] }, 'text', 7, false, null];
    const Records = await committed({
      id: 'o-1',
      events: details.map((detail, index) => ({ type: `e${index}`, detail })),
    });
    const { sent, send } = sending();
    expect(await outboxHandler({ send })({ Records })).toEqual({ batchItemFailures: [] });
    expect(sent.map(({ detail }) => detail)).toEqual(details);
    expect(sent[0]).toMatchObject({ type: 'e0', operation: 'place', createdAt: new Date(1_900_000_000_000) });
    expect(sent[0]?.record).toMatch(/^place#/);
  });

  test('the key of each is its own, the same on every delivery; one that the business gives is kept', async () => {
    const given = eventKey('notify:order:{id}:confirmation', { id: 'o-1' });
    const Records = await committed({
      id: 'o-1',
      events: [
        { type: 'a', detail: 1 },
        { type: 'a', detail: 2 },
        { type: 'b', detail: 3, key: given },
      ],
    });
    const { sent, send } = sending();
    await outboxHandler({ send })({ Records });
    await outboxHandler({ send })({ Records });
    const keys = sent.map(({ key }) => key);
    expect(keys.slice(0, 3)).toEqual(keys.slice(3));
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('notify:order:o-1:confirmation');
  });

  test('a failure stops the batch there, and what comes after waits; the next batch goes on from there', async () => {
    const Records = await committed(
      { id: 'o-1', events: [{ type: 'a', detail: 1 }] },
      {
        id: 'o-2',
        events: [
          { type: 'b', detail: 1 },
          { type: 'c', detail: 1 },
        ],
      },
      { id: 'o-3', events: [{ type: 'd', detail: 1 }] },
    );
    const onFailure = vi.fn();
    const broken = sending('c');
    const answer = await outboxHandler({ send: broken.send, onFailure })({ Records });
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: '2' }] });
    expect(broken.types()).toEqual(['a', 'b']);
    expect(onFailure).toHaveBeenCalledWith(expect.any(Error), expect.objectContaining({ type: 'c' }));
    const mended = sending();
    await outboxHandler({ send: mended.send })({ Records: Records.slice(1) });
    expect(mended.types()).toEqual(['b', 'c', 'd']);
  });

  test('records that are none of the outbox, and removals, are passed over', async () => {
    const [record] = await committed({ id: 'o-1', events: [{ type: 'a', detail: 1 }] });
    const claim = {
      eventName: 'INSERT',
      dynamodb: { SequenceNumber: '7', NewImage: { id: { S: 'place#x' } } },
    };
    const Records = [claim, { ...record, eventName: 'REMOVE' }] as never;
    const { sent, send } = sending();
    expect(await outboxHandler({ send })({ Records })).toEqual({ batchItemFailures: [] });
    expect(sent).toEqual([]);
  });

  test('options and events that make no sense are refused', async () => {
    expect(() => outboxHandler({} as never)).toThrow(/option "send" is required/);
    expect(() => outboxHandler({ send: async () => {}, sender: 1 } as never)).toThrow(
      /unknown option "sender"/,
    );
    await expect(outboxHandler({ send: async () => {} })({} as never)).rejects.toMatchObject({
      code: 'input-invalid',
    });
  });
});
