/** Middy's request, as far as it is used here. Typed structurally: Middy is an optional peer. */
export interface MiddyRequest<Event, Context> {
  event: Event;
  context: Context;
  response?: unknown;
  error?: unknown;
  earlyResponse?: unknown;
}

/** The three hooks of a middleware. */
export interface MiddyHooks<Event, Context> {
  before(request: MiddyRequest<Event, Context>): Promise<void>;
  after(request: MiddyRequest<Event, Context>): Promise<void>;
  onError(request: MiddyRequest<Event, Context>): Promise<void>;
}

/**
 * What hooks of one request tell each other, by the request: one process may serve many at once. Taken once: of `after`
 * and `onError` the first one ends it.
 */
export class PerRequest<Value> {
  readonly #values = new WeakMap<object, Value>();

  set(request: object, value: Value): void {
    this.#values.set(request, value);
  }

  take(request: object): Value | undefined {
    const value = this.#values.get(request);
    this.#values.delete(request);
    return value;
  }
}
