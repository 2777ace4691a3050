/** What happens at one place, in order, for one reader. */
export class Mailbox<Message> {
  readonly #waiting: Message[] = [];
  #reader: ((message: Message) => void) | undefined;

  put(message: Message): void {
    const reader = this.#reader;
    if (reader === undefined) {
      this.#waiting.push(message);
      return;
    }
    this.#reader = undefined;
    reader(message);
  }

  /** The next message, or `undefined` when none came within so many milliseconds. */
  next(milliseconds: number): Promise<Message | undefined> {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return Promise.resolve(waiting);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#reader = undefined;
        resolve(undefined);
      }, milliseconds);
      this.#reader = (message) => {
        clearTimeout(timer);
        resolve(message);
      };
    });
  }
}
