import { type Rejection, toStatus } from '../domain/outcome.ts';

/** The HTTP status that an error carries under either of its usual names. */
export function statusOfError(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { statusCode, status } = error as { statusCode?: unknown; status?: unknown };
  return toStatus(statusCode) ?? toStatus(status);
}

/** The parts of an error that are stored and thrown again. */
export function toRejection(error: unknown): Rejection {
  const { name, message, code, expose } = Object(error) as Record<string, unknown>;
  const status = statusOfError(error);
  return {
    name: typeof name === 'string' ? name : 'Error',
    message: typeof message === 'string' ? message : textOf(error),
    ...(status !== undefined && { status }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof expose === 'boolean' && { expose }),
  };
}

/** The recorded rejection as an error again: same name, message, status and code, and no stack of another process. */
export function fromRejection({ name, message, status, code, expose }: Rejection): Error {
  const error = new Error(message);
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  Object.assign(error, {
    ...(status !== undefined && { status, statusCode: status }),
    ...(code !== undefined && { code }),
    ...(expose !== undefined && { expose }),
  });
  error.stack = `${name}: ${message}`;
  return error;
}

/** What was thrown may be anything, also something that has no text. */
function textOf(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : `Thrown was no error but: ${typeof thrown}.`;
}
