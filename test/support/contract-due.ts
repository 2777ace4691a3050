import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { OnceRecord } from '../../src/domain/record.ts';
import type { DuePage, Store } from '../../src/store/store.ts';
import { aimedAt, claimOn, ended, limits, recordIn, type Subject, start } from './contract-records.ts';

/** Every page of what is due. */
export async function pagesOf(store: Store, before: number): Promise<DuePage[]> {
  const pages: DuePage[] = [];
  for await (const page of store.due(before, limits)) pages.push(page);
  return pages;
}

async function idsOf(store: Store, before: number): Promise<string[]> {
  return (await pagesOf(store, before)).flatMap(({ ids }) => ids);
}

/** What a sweep is shown. The table is shared, so each test looks for records of its own. */
export function dueContract(subject: Subject): void {
  describe('due', () => {
    test('lists what is due at a time and not what is due a millisecond later, each once, from the index', async () => {
      const { store, put } = await subject();
      const at = [start, start, start + 1, start + 2, undefined];
      const records = at.map((dueAt) => recordIn('claimed', dueAt === undefined ? {} : { dueAt }));
      for (const record of records) await put(record);
      const listed = async (before: number): Promise<number[]> => {
        const ids = await idsOf(store, before);
        expect(new Set(ids).size).toBe(ids.length);
        return records.flatMap(({ id }, place) => (ids.includes(id) ? [place] : []));
      };
      expect(await listed(start - 1)).toEqual([]);
      expect(await listed(start)).toEqual([0, 1]);
      expect(await listed(start + 1)).toEqual([0, 1, 2]);
      expect(await listed(Number.MAX_SAFE_INTEGER)).toEqual([0, 1, 2, 3]);
      for (const { from } of await pagesOf(store, start)) expect(from).toBe('index');
    });

    test('more than a page of one shard, and every shard: none is left out, none comes twice', async () => {
      const { store, put } = await subject();
      const dueAt = start - 5_000_000;
      // the shard hangs on the end of the id
      const crowded = Array.from({ length: 120 }, () => `due#${randomUUID()}AAAAAAAA`);
      const spread = Array.from({ length: 24 }, () => recordIn('claimed').id);
      await Promise.all([...crowded, ...spread].map((id) => put(recordIn('claimed', { id, dueAt }))));
      const ids = await idsOf(store, dueAt);
      expect([...ids].sort()).toEqual([...crowded, ...spread].sort());
    });

    /** Whether a record is listed, and from when on. */
    async function dueFrom(store: Store, { id }: OnceRecord): Promise<number | undefined> {
      for (const time of [start, start + 1000, start + 2000]) {
        if ((await idsOf(store, time)).includes(id)) return time;
      }
      return undefined;
    }

    test('each write leaves a record in the index exactly as long as somebody has to look at it', async () => {
      const { store } = await subject();
      const due = (dueAt: number) => ({ dueAt }) as const;
      const { id } = recordIn('claimed');
      const first = {
        ...claimOn(id, { fence: 10, attempt: 1, ...due(start + 1000) }),
        state: 'claimed',
      } as const;
      const write = async (transition: Parameters<Store['write']>[0]): Promise<number | undefined> => {
        expect(await store.write(transition, limits)).toEqual({ kind: 'applied' });
        return dueFrom(store, first);
      };
      expect(await write({ kind: 'claim', now: start, record: first })).toBe(start + 1000);
      expect(
        await write({
          kind: 'note',
          held: first,
          effects: { charge: { from: undefined, to: '1{"state":"void"}' } },
        }),
      ).toBe(start + 1000);
      const doubt = { examinedBy: 'sweeper', expiresAt: ended.expiresAt } as const;
      expect(await write({ kind: 'doubt', seen: first, ...doubt, ...due(start + 2000) })).toBe(start + 2000);
      const doubted = { ...first, state: 'in-doubt', ...due(start + 2000) } as const;
      // one that names no time leaves it where it is
      expect(await write({ kind: 'doubt', seen: doubted, ...doubt, examinedBy: 'another' })).toBe(
        start + 2000,
      );
      const second = {
        ...claimOn(id, { owner: 'second', fence: 11, ...due(start) }),
        state: 'claimed',
      } as const;
      expect(await write({ kind: 'take-over', seen: doubted, record: second })).toBe(start);
      expect(
        await write({ kind: 'release', held: second, forget: false, ...due(start + 1000), ...ended }),
      ).toBe(start + 1000);
      const released = { ...second, state: 'released', ...due(start + 1000) } as const;
      const judged = { owner: 'judge', fence: 12, to: 'released', ...ended } as const;
      expect(await write({ kind: 'resolve', seen: released, ...judged })).toBeUndefined();
    });

    test.each(['complete', 'release', 'resolve'] as const)('%s takes it out', async (kind) => {
      const { store, put } = await subject();
      const record = recordIn('claimed', { dueAt: start });
      await put(record);
      expect(await dueFrom(store, record)).toBe(start);
      expect(await store.write(aimedAt(record)[kind], limits)).toEqual({ kind: 'applied' });
      expect(await dueFrom(store, record)).toBeUndefined();
    });
  });
}
