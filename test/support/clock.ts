/** A clock that a test moves. Starts at the real time, because records of the engine are judged by it as well. */
export class Clock {
  #now: number;

  constructor(start: number = Date.now()) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
