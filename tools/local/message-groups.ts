/** The message groups that are in somebody's hands. */
export class MessageGroups {
  readonly #held = new Set<string>();
  #given = Promise.withResolvers<void>();

  /** Runs with all of these groups in hand, or waits until nobody else holds any of them. All at once: no deadlock. */
  async holding(groups: ReadonlySet<string>, work: () => Promise<void>): Promise<void> {
    while ([...groups].some((group) => this.#held.has(group))) await this.#given.promise;
    for (const group of groups) this.#held.add(group);
    try {
      await work();
    } finally {
      for (const group of groups) this.#held.delete(group);
      this.#given.resolve();
      this.#given = Promise.withResolvers();
    }
  }
}
