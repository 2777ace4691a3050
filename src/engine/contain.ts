/**
 * Calls a function of the user's that only watches or judges, so that nothing it does can change what happens: what it
 * throws, and what a promise that nobody awaits rejects with, becomes a warning. (Unhandled, it would end the process in
 * the middle of an effect.)
 */
export function contain<Result>(option: string, call: () => Result): Result | undefined {
  const warn = (error: unknown): void =>
    process.emitWarning(`lambda-once: "${option}" failed: ${(error as Error | null)?.name ?? typeof error}`);
  try {
    const result = call();
    if (result instanceof Promise) result.catch(warn);
    return result;
  } catch (error) {
    warn(error);
    return undefined;
  }
}
