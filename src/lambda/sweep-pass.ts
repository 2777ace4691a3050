import { operationOf } from '../domain/identity.ts';
import { longestQuestion } from '../engine/ask.ts';
import { deadlineOf, type LambdaContext } from '../engine/request.ts';
import { type Reason, type Sweep, type Swept, sweepRecord } from '../engine/sweep.ts';

/** What one pass did. The counts of records add up to `examined`. */
export interface SweepReport {
  readonly examined: number;
  /** Found downstream: its outcome replays from now on. */
  readonly completed: number;
  /** Free to run again, or its last open effect is decided. */
  readonly released: number;
  /** Nobody can tell. It is asked about again, and somebody should look. */
  readonly inDoubt: number;
  /** Absent, but what was sent last may still arrive: a later pass decides. */
  readonly settling: number;
  /** Somebody else was quicker: its owner, a retry, another sweeper. */
  readonly skipped: number;
  /** The store failed for this record; a later pass takes it up. */
  readonly failed: number;
  /** Milliseconds since the oldest of what is still open was claimed; 0 when nothing is. */
  readonly oldestAge: number;
  /** The time ran out before the end; a later pass goes on. */
  readonly truncated: boolean;
  /** The table has no sweep index, so all of it was read. */
  readonly scanned: boolean;
  /** What is still open, at most {@link mostOpen}. Ids hold a digest, never a key. */
  readonly open: readonly OpenRecord[];
}

/** A record that a sweep could not settle. */
export interface OpenRecord {
  readonly id: string;
  readonly operation: string;
  /** Milliseconds since it was claimed. */
  readonly age: number;
  readonly why: Reason;
  readonly effect?: string;
  /** The name of what a failed question threw. */
  readonly error?: string;
}

/** A log line has an end; the counts are complete. */
const mostOpen = 50;

/** Left of the invocation for the last write and the report, in milliseconds. */
const margin = 1000;

/** A read, a write, or a page of the index, in milliseconds. Past the last second a call still has half of it. */
const longestCall = 5000;
const shortestCall = 500;

type Counts = { -readonly [count in keyof SweepReport]: SweepReport[count] };

/** One pass over what is due, to the end or as long as there is time. */
export async function sweepAll(
  known: Omit<Sweep, 'questionTime' | 'limits'>,
  concurrency: number,
  context: LambdaContext | undefined,
  log: (report: SweepReport) => void,
): Promise<SweepReport> {
  const { store } = known;
  const deadline = deadlineOf(context, store.now()) ?? Number.POSITIVE_INFINITY;
  const timeLeft = (): number => deadline - store.now() - margin;
  const sweep: Sweep = {
    ...known,
    questionTime: () => Math.max(1, Math.min(longestQuestion, timeLeft())),
    limits: () => ({ budget: Math.max(shortestCall, Math.min(longestCall, timeLeft())) }),
  };
  const report = new Report(() => store.now());
  try {
    for await (const { ids, from } of store.due(store.now(), sweep.limits())) {
      if (from === 'scan') report.scan();
      await inLanes(ids, concurrency, async (id) => {
        if (timeLeft() <= 0) report.truncate();
        else report.add(await sweepRecord(sweep, id).catch(() => 'failed' as const));
      });
      if (timeLeft() <= 0) report.truncate();
      if (report.counts.truncated) break;
    }
  } finally {
    log(report.counts);
  }
  return report.counts;
}

/** Works through a list, so many at once. */
async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const lane = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Adds up what became of the records. */
class Report {
  readonly counts: Counts & { open: OpenRecord[] } = {
    examined: 0,
    completed: 0,
    released: 0,
    inDoubt: 0,
    settling: 0,
    skipped: 0,
    failed: 0,
    oldestAge: 0,
    truncated: false,
    scanned: false,
    open: [],
  };
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(swept: Swept | 'failed'): void {
    const kind = swept === 'failed' ? 'failed' : swept.kind;
    this.counts.examined += 1;
    this.counts[kind === 'in-doubt' ? 'inDoubt' : kind] += 1;
    if (swept !== 'failed' && (swept.kind === 'in-doubt' || swept.kind === 'settling')) this.#addOpen(swept);
  }

  #addOpen({ record, why, effect, error }: Extract<Swept, { kind: 'in-doubt' | 'settling' }>): void {
    const { id, claimedAt } = record;
    const age = Math.max(0, this.#now() - claimedAt);
    this.counts.oldestAge = Math.max(this.counts.oldestAge, age);
    if (this.counts.open.length >= mostOpen) return;
    this.counts.open.push({
      id,
      operation: operationOf(id),
      age,
      why,
      ...(effect !== undefined && { effect }),
      ...(error !== undefined && { error }),
    });
  }

  truncate(): void {
    this.counts.truncated = true;
  }

  /** Said once per pass, where an operator sees it. */
  scan(): void {
    if (this.counts.scanned) return;
    this.counts.scanned = true;
    process.emitWarning('lambda-once: the table has no sweep index, so the sweeper reads all of it.');
  }
}
