import type { Store } from 'lambda-once';

/** Where a process dies. */
export const points = [
  'before the claim lands',
  'after the claim',
  'before the effect',
  'during the effect',
  'after the effect, before the journal',
  'after the journal, before the completion',
  'after the completion, before the answer',
] as const;
export type Point = (typeof points)[number];

/** The write at which a process stops, and on which side of it; the journal is written before and after the effect. */
const stops: Partial<
  Record<Point, { readonly write: string; readonly nth: number; readonly side: 'before' | 'after' }>
> = {
  'before the claim lands': { write: 'claim', nth: 1, side: 'before' },
  'after the claim': { write: 'claim', nth: 1, side: 'after' },
  'before the effect': { write: 'note', nth: 1, side: 'after' },
  'after the effect, before the journal': { write: 'note', nth: 2, side: 'before' },
  'after the journal, before the completion': { write: 'complete', nth: 1, side: 'before' },
  'after the completion, before the answer': { write: 'complete', nth: 1, side: 'after' },
};

/** The store of a process that stops for ever at a point, and says so. During the effect it is the provider who tells. */
export function stoppingStore(store: Store, point: Point, stopped: () => void): Store {
  const stop = stops[point];
  const seen = new Map<string, number>();
  const halt = (): Promise<never> => {
    stopped();
    return new Promise(() => {});
  };
  return {
    ...store,
    write: async (transition, limits) => {
      const nth = (seen.get(transition.kind) ?? 0) + 1;
      seen.set(transition.kind, nth);
      const isHere = stop?.write === transition.kind && stop.nth === nth;
      if (isHere && stop.side === 'before') return halt();
      const written = await store.write(transition, limits);
      return isHere ? halt() : written;
    },
  };
}
