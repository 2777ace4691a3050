/** Records that must not run side by side, in their order. */
export interface Lane<Item> {
  readonly items: readonly Item[];
  /** Whether a failure stops what is behind it in the lane: where order is promised, nobody overtakes. */
  readonly ordered: boolean;
}

/** Sorts items into lanes by name, first come first. */
export function lanesBy<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  ordered: boolean,
): Lane<Item>[] {
  const lanes = new Map<string, Item[]>();
  for (const item of items) {
    const lane = lanes.get(nameOf(item));
    if (lane === undefined) lanes.set(nameOf(item), [item]);
    else lane.push(item);
  }
  return [...lanes.values()].map((lane) => ({ items: lane, ordered }));
}

/** Runs the lanes, so many at once, and yields each item's failure. Resolves when every item has ended. */
export async function runLanes<Item, Failure>(
  lanes: readonly Lane<Item>[],
  concurrency: number,
  run: (item: Item, stopped: boolean) => Promise<Failure | undefined>,
): Promise<Map<Item, Failure>> {
  const failures = new Map<Item, Failure>();
  const queue = lanes[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const { items, ordered } of queue) {
      let stopped = false;
      for (const item of items) {
        const failure = await run(item, stopped);
        if (failure === undefined) continue;
        failures.set(item, failure);
        stopped ||= ordered;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, lanes.length) }, worker));
  return failures;
}
