import { expect } from 'vitest';
import { isExpired, isLapsed, type OnceRecord } from '../../src/domain/record.ts';
import type { Transition } from '../../src/domain/transition.ts';
import type { Written } from '../../src/store/store.ts';
import type { ModelWorker } from './contract-model.ts';

export const lease = 10_000;
/** No clock is further from the true time than this. Two of them differ by less than the skew. */
export const widest = 1400;
const skew = 3000;

/** One write, and the record on both sides of it. */
interface Landed {
  readonly transition: Transition;
  readonly written: Written;
  readonly before: OnceRecord | undefined;
  readonly after: OnceRecord | undefined;
  /** What the clock that is most ahead says. */
  readonly latest: number;
  readonly onLapse: 'rerun' | 'hold';
}

/** What must hold of every write, whoever sent it and however late it came. */
export function checkWrite({ transition, written, before, after, latest, onLapse }: Landed): void {
  if (written.kind !== 'applied')
    expect(after, 'a write that is not applied changes nothing').toEqual(before);
  if (before === undefined || after === undefined) return;
  const isOver = isExpired(before, latest);
  if (before.state === 'completed' && !isOver) {
    expect(after, 'a completed outcome is never overwritten').toEqual(before);
  }
  expect(after.fence, 'the fence never shrinks').toBeGreaterThanOrEqual(before.fence);
  if (after.owner !== before.owner) {
    expect(after.fence, 'a new owner has a greater fence').toBeGreaterThan(before.fence);
    const isFree = before.state === 'released' || isOver;
    const isUndecided = before.state === 'in-doubt' || isLapsed(before, latest, skew);
    expect(isFree || (onLapse === 'rerun' && isUndecided), `taken from a ${before.state} record`).toBe(true);
  }
  if (transition.kind === 'complete' || transition.kind === 'release') {
    const { owner, fence } = transition.held;
    const isFencedOff = before.owner !== owner || before.fence !== fence;
    if (isFencedOff) expect(written.kind, `the ${transition.kind} of a fenced-off owner`).toBe('refused');
  }
}

/** What must hold of those who believe that they may run, each by its own clock. */
export function checkBelievers(workers: readonly ModelWorker[], record: OnceRecord | undefined): void {
  const believers = workers.filter(
    ({ held, leaseUntil, store }) => held !== undefined && store.now() <= leaseUntil,
  );
  expect(believers.length, 'live owners').toBeLessThanOrEqual(1);
  for (const { held } of believers) {
    expect(record, 'the record of a live owner').toMatchObject({
      state: 'claimed',
      owner: held?.owner,
      fence: held?.fence,
    });
  }
}
