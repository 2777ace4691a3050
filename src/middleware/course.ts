/** How a request went, until the first error. */
export interface Course {
  readonly firstError: unknown;
  /** Set when something had answered before that error: the handler, or Middy's early timeout in its place. */
  readonly answered?: { readonly value: unknown };
}

/**
 * The error that was thrown first decides about the claim. An error handler below us replaces `request.error` by what
 * the client may see, before our hook runs: an early timeout would look like any 500, and be released while the handler
 * still runs. And Middy wipes the answer before it sets the error: without a look at what stood there, a shaper that
 * fails would free the key of a handler that succeeded.
 */
export function watch(request: { error?: unknown; response?: unknown }): () => Course {
  const errors: unknown[] = [];
  const responses: unknown[] = [];
  tap(request, 'error', (error) => errors.push(error));
  tap(request, 'response', (response) => errors.length === 0 && responses.push(response));
  return () => {
    const firstError = errors.length > 0 ? errors[0] : request.error;
    // the last one is Middy's wiping
    return responses.length > 1 ? { firstError, answered: { value: responses.at(-2) } } : { firstError };
  };
}

/** The property stays what it was, and tells what is assigned to it. */
function tap<Name extends string>(
  target: { [name in Name]?: unknown },
  name: Name,
  told: (value: unknown) => void,
): void {
  let current = target[name];
  // two operations in one chain both watch
  const outer = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: true,
    get: () => current,
    set: (value: typeof current) => {
      told(value);
      outer?.set?.call(target, value);
      current = value;
    },
  });
}
