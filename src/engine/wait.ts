import { setTimeout as sleep } from 'node:timers/promises';
import { judge, type OnceRecord } from '../domain/record.ts';
import { answerMargin, callLimits, type Request, timeLeft } from './request.ts';
import type { Standing } from './write-claim.ts';

/** How a wait ended: the record changed, or the time was up. */
type News = { readonly kind: 'news'; readonly found: Standing } | { readonly kind: 'none' };

/** Milliseconds. Many winners answer quickly, so the first look comes soon and the later ones rarely. */
const firstPause = 50;
const longestPause = 1000;

/** Waits for the running winner, as long as the operation allows and the invocation lasts. Strong reads, with jitter. */
export async function waitForNews(request: Request, busy: OnceRecord): Promise<News> {
  const { operation, id, fingerprint, signal } = request;
  const { store, skew, observe } = operation;
  const started = performance.now();
  const longest = Math.min(operation.wait, timeLeft(request) - answerMargin);
  const left = (): number => longest - (performance.now() - started);
  let record: OnceRecord | undefined = busy;
  for (let pause = firstPause; left() > 0; pause = Math.min(pause * 1.6, longestPause)) {
    const jittered = pause * (0.5 + Math.random() / 2);
    await sleep(Math.min(jittered, left()), undefined, signal === undefined ? {} : { signal }).catch(
      () => undefined,
    );
    if (signal?.aborted) return { kind: 'none' };
    // a read that fails is no news; the next one may succeed
    const asOf = store.now();
    record = await store.read(id, callLimits(request)).catch(() => record);
    if (judge(record, { fingerprint, now: asOf, skew }) !== 'busy') {
      observe({ type: 'waited', operation: operation.name, id, milliseconds: performance.now() - started });
      return { kind: 'news', found: { kind: 'standing', record, asOf } };
    }
  }
  return { kind: 'none' };
}
