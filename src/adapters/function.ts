import { toJson } from '../domain/canonical-value.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import { either, isFalse, isFunction, isScope, requireFunction } from '../domain/options.ts';
import { type Claim, unheldClaim } from '../engine/claim.ts';
import { defineOperation, type Operation } from '../engine/operation.ts';
import type { OperationOptions } from '../engine/options.ts';
import { fromRejection } from '../engine/rejection.ts';
import { type LambdaContext, newRequest, type Request } from '../engine/request.ts';
import { type Answer, runOnce } from '../engine/run.ts';
import { isSwitchedOff } from '../engine/switch.ts';
import { isIdempotencyError } from '../errors.ts';
import type { BusinessKey } from './batch/keys.ts';
import { requireKey, requireScope, type Yielded } from './identity.ts';

/** Options of {@link idempotent}. */
export interface FunctionOptions<Input, Result> extends OperationOptions<Result> {
  /** The caller's identity for one intent, out of the input: an order id, not a time, not a random value. */
  readonly key: BusinessKey<Input> | ((input: Input) => string | undefined | Promise<string | undefined>);
  /** Whose keys these are. Default `'none'`: the keys are unique by themselves. */
  readonly scope?: 'none' | ((input: Input) => Yielded | Promise<Yielded>) | undefined;
  /**
   * What of the input must be the same under one key. Default: all of it; with `scheduleKey`, rule and time. A function
   * chooses, `false` switches it off.
   */
  readonly fingerprint?: false | ((input: Input) => unknown) | undefined;
}

/** The wrapped function. A Lambda context as second argument bounds the lease by the invocation's deadline. */
export type IdempotentFunction<Input, Result> = (input: Input, context?: LambdaContext) => Promise<Result>;

/**
 * Makes any async function of one input run once per key: duplicates get the first result back, or its recorded
 * rejection thrown again.
 *
 * Failure semantics: a process that dies inside leaves the claim to its lease; then `onLapse` decides. Without a Lambda
 * context the lease is 15 minutes: give `lease` where the function is known to be quicker.
 *
 * @throws IdempotencyError `options` at construction; when called `key-missing`, `key-invalid`, `key-reused`, `busy`,
 * `in-doubt`, `lease-lost`, `input-invalid`, `outcome-not-kept`, `store`, `reentrant`
 */
export function idempotent<Input, Result>(
  run: (input: Input, claim: Claim) => Result | Promise<Result>,
  options: FunctionOptions<Input, NoInfer<Awaited<Result>>>,
): IdempotentFunction<Input, Awaited<Result>> {
  requireFunction('idempotent', run);
  const own = {
    key: isFunction,
    scope: isScope,
    fingerprint: either(isFalse, isFunction),
  };
  const operation = defineOperation('idempotent', options, own, ['key']);
  return async function once(this: unknown, input: Input, context?: LambdaContext): Promise<Awaited<Result>> {
    const work = (claim: Claim): unknown => run.call(this, input, claim);
    if (isSwitchedOff()) {
      operation.observe({ type: 'bypassed', operation: operation.name, reason: 'disabled' });
      return (await work(unheldClaim(operation))) as Awaited<Result>;
    }
    const request = await requestOf(operation, options, input, context);
    return outcomeOf(await runOnce(request, work)) as Awaited<Result>;
  };
}

async function requestOf<Input, Result>(
  operation: Operation,
  options: FunctionOptions<Input, Result>,
  input: Input,
  context: LambdaContext | undefined,
): Promise<Request> {
  const { key, scope = 'none' } = options;
  try {
    const identity = {
      scope: scope === 'none' ? scope : requireScope(await scope(input)),
      key: requireKey(await key(input)),
    };
    return newRequest(operation, identity, digestOf(options, input), context);
  } catch (error) {
    if (isIdempotencyError(error)) {
      operation.observe({ type: 'refused', operation: operation.name, code: error.code });
    }
    throw error;
  }
}

function digestOf<Input, Result>(
  { key, fingerprint }: FunctionOptions<Input, Result>,
  input: Input,
): string | undefined {
  if (fingerprint === false) return undefined;
  if (fingerprint !== undefined) return fingerprintOf(toJson(fingerprint(input)));
  const { meaning } = key as BusinessKey<Input>;
  return fingerprintOf(meaning === undefined ? toJson(input) : meaning(input));
}

/** The answer as a function gives it: returned or thrown. */
function outcomeOf(answer: Answer): unknown {
  switch (answer.kind) {
    case 'returned':
      return answer.value;
    case 'thrown':
    case 'refused':
      throw answer.error;
    case 'replay':
      break;
    default:
      return answer satisfies never;
  }
  const { outcome } = answer;
  if (outcome.kind === 'rejection') throw fromRejection(outcome.rejection);
  return outcome.kind === 'value' ? outcome.value : undefined;
}
