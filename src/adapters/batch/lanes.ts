/** What an item shares with others of its batch. */
export interface Place {
  /** Items of one key never run side by side: the second would be refused for the first, or wait for it. */
  readonly key: string;
  /** Where order is promised: one after the other, and behind a failure nobody overtakes. */
  readonly lane?: string;
}

/**
 * Runs items in their order, so many at once, and yields each item's failure. An item that must wait for another one
 * lets those pass that share nothing with it. `run` must not reject. Resolves when every item has ended.
 */
export async function runInLanes<Item, Failure>(
  items: readonly Item[],
  placeOf: (item: Item) => Place,
  concurrency: number,
  run: (item: Item, stopped: boolean) => Promise<Failure | undefined>,
): Promise<Map<Item, Failure>> {
  const failures = new Map<Item, Failure>();
  const waiting = [...items];
  const occupied = new Set<string>();
  const stopped = new Set<string>();
  let running = 0;
  let wake = (): void => {};

  const start = async (item: Item): Promise<void> => {
    const { lane } = placeOf(item);
    const names = namesOf(placeOf(item));
    running += 1;
    for (const name of names) occupied.add(name);
    const failure = await run(item, lane !== undefined && stopped.has(lane));
    if (failure !== undefined) failures.set(item, failure);
    if (failure !== undefined && lane !== undefined) stopped.add(lane);
    for (const name of names) occupied.delete(name);
    running -= 1;
    wake();
  };

  const next = (): Item | undefined => {
    const taken = new Set(occupied);
    const index = waiting.findIndex((item) => {
      const names = namesOf(placeOf(item));
      if (names.every((name) => !taken.has(name))) return true;
      // who comes later must not overtake it in either
      for (const name of names) taken.add(name);
      return false;
    });
    return index < 0 ? undefined : waiting.splice(index, 1)[0];
  };

  while (waiting.length > 0 || running > 0) {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    while (running < concurrency) {
      const item = next();
      if (item === undefined) break;
      void start(item);
    }
    await ended;
  }
  return failures;
}

function namesOf({ key, lane }: Place): string[] {
  return lane === undefined ? [`key ${key}`] : [`key ${key}`, `lane ${lane}`];
}
