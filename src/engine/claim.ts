import { randomBytes } from 'node:crypto';
import { deriveKey, deriveUuid } from '../domain/derive.ts';
import type { OnceRecord } from '../domain/record.ts';
import type { Request } from './request.ts';

/** The right to run, as user code holds it: always the last argument of a handler. */
export interface Claim {
  /** The record's id: safe to log. */
  readonly id: string;
  readonly operation: string;
  readonly scope: string;
  /** The caller's key, as it was normalised. Do not log it: a key may be an e-mail address. */
  readonly key: string;
  /**
   * Grows with every takeover. Hand it to a downstream that can refuse a smaller one than it has seen: it shuts out an
   * attempt that woke up too late.
   */
  readonly fence: number;
  /** 1 for the first run, one more for every run after it. */
  readonly attempt: number;
  /** False where nothing protects this run: a safe method, no key where none is required, or switched off. */
  readonly held: boolean;
  /**
   * The key to hand to a downstream for one step of the work, so that it recognises the step when a later attempt takes it
   * again. Derived from the record's id: the same in every attempt, process and version; 43 URL-safe characters. The
   * same step several times needs an index.
   */
  token(name: string, index?: number): string;
  /** The same as a UUID, for an id that must be the same in every attempt. Costs nothing. */
  uuid(name: string, index?: number): string;
  /**
   * Aborts when the lease is over: from then on somebody else may run. In the handler's seat also when Middy's early
   * timeout fires.
   */
  readonly signal: AbortSignal;
}

/** Ours: the claim together with what ends it. */
export interface HeldClaim {
  readonly owner: string;
  readonly fence: number;
  readonly id: string;
  /** Epoch milliseconds. */
  readonly leaseUntil: number;
  readonly request: Request;
  readonly claim: Claim;
  /** Stops the lease's timer. */
  done(): void;
}

/** Fresh for every attempt. The request id would not do: Lambda's asynchronous retries repeat it. */
export function newOwner(): string {
  return randomBytes(12).toString('base64url');
}

/** The claim that a record, won by us, stands for. */
export function heldClaim(request: Request, record: OnceRecord): HeldClaim {
  const { operation, identity, signal } = request;
  const { id, owner, fence, attempt } = record;
  const lease = leaseSignal(record.leaseUntil - operation.store.now(), signal);
  const claim: Claim = {
    id,
    operation: operation.name,
    scope: identity.scope,
    key: identity.key,
    fence,
    attempt,
    held: true,
    ...derivedFrom(id),
    get signal() {
      return lease.signal();
    },
  };
  return { id, owner, fence, leaseUntil: record.leaseUntil, request, claim, done: () => lease.stop() };
}

/**
 * What a handler that runs unprotected gets in the claim's place, so that it needs no second way to be written. Its tokens
 * are of this one run: nothing tells a retry of it from another intent.
 */
export function unheldClaim(operation: string): Claim {
  const { signal } = new AbortController();
  return {
    id: '',
    operation,
    scope: '',
    key: '',
    fence: 0,
    attempt: 1,
    held: false,
    ...derivedFrom(newOwner()),
    signal,
  };
}

function derivedFrom(parent: string): Pick<Claim, 'token' | 'uuid'> {
  return {
    token: (name, index) => deriveKey(parent, name, index),
    uuid: (name, index) => deriveUuid(parent, name, index),
  };
}

/** Made when first asked for: most handlers never do. The timer does not keep the process alive. */
function leaseSignal(
  milliseconds: number,
  outer: AbortSignal | undefined,
): { signal(): AbortSignal; stop(): void } {
  const ends = performance.now() + milliseconds;
  let signal: AbortSignal | undefined;
  let timer: NodeJS.Timeout | undefined;
  const start = (): AbortSignal => {
    const controller = new AbortController();
    const over = (): void => controller.abort(new DOMException('The lease is over.', 'TimeoutError'));
    const left = ends - performance.now();
    if (left > 0) timer = setTimeout(over, left).unref();
    else over();
    return outer === undefined ? controller.signal : AbortSignal.any([controller.signal, outer]);
  };
  return { signal: () => (signal ??= start()), stop: () => clearTimeout(timer) };
}
