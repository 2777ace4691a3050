import type { BatchOperation } from '../adapters/batch/options.ts';
import { type Report, readReport } from '../adapters/batch/report.ts';
import { asFailure, type Failure, named, report } from '../adapters/batch/run-batch.ts';
import type { HeldClaim } from '../engine/claim.ts';
import { complete, hold } from '../engine/settle.ts';
import { IdempotencyError } from '../errors.ts';
import { type BatchBusiness, handedOver } from './claim-batch.ts';
import { isNearDeadline, settleError, settleHook } from './settle-hook.ts';

/** What is known of the handed records. */
export type Told = Report | { readonly kind: 'thrown'; readonly error: unknown };

/** What a failure leaves of the handler's word: when it had answered, its report still counts. */
export function toldBefore<Item>(business: BatchBusiness<Item>): Told {
  const { firstError, answered } = business.course();
  if (answered === undefined) return { kind: 'thrown', error: firstError };
  return readReport(answered.value, handedOver(business));
}

/** Ends every claim by what was told of its record. */
export async function settleBatch<Item, Context>(
  batch: BatchOperation<Item, Context>,
  { held, followers, failed }: BatchBusiness<Item>,
  told: Told,
): Promise<void> {
  const settled = [...held].map(async ([delivery, claim]) => {
    const failure = await settleOne(claim, delivery.identifier, told);
    if (failure === undefined) return;
    const sharing = [...followers].filter(([, leader]) => leader === delivery).map(([follower]) => follower);
    for (const each of [delivery, ...sharing]) {
      failed.add(each);
      report(batch, failure, each.record);
    }
  });
  await Promise.all(settled);
}

async function settleOne(claim: HeldClaim, identifier: string, told: Told): Promise<Failure | undefined> {
  switch (told.kind) {
    case 'misread':
      hold(claim, 'misread response');
      return { error: misreported(told.fault) };
    case 'thrown':
      await settleError(claim, { firstError: told.error }, undefined);
      return { error: told.error };
    case 'reported':
      return told.failed.has(identifier) ? giveBack(claim) : keep(claim);
    default:
      return told satisfies never;
  }
}

async function giveBack(claim: HeldClaim): Promise<Failure> {
  const error = named('BatchItemFailure', 'The handler reported the record as failed.');
  await settleHook(claim, { kind: 'thrown', error });
  return { error };
}

/** A claim that was lost may have been completed by whoever took it over. */
async function keep(claim: HeldClaim): Promise<Failure | undefined> {
  const settled = await complete(claim, { kind: 'value', value: undefined });
  return settled.kind === 'own' ? undefined : asFailure(settled);
}

export function misreported(fault: string): IdempotencyError {
  return new IdempotencyError(
    'options',
    `sqsIdempotency: the handler's response ${fault}; Lambda would misread it.`,
  );
}

/** What the handler's response says. */
export function toldBy<Item>(business: BatchBusiness<Item>, response: unknown): Told {
  const [held] = business.held.values();
  // so close to the deadline no answer may be Middy's early timeout: the handler still runs
  const isCutOff =
    (response === undefined || response === null) && held !== undefined && isNearDeadline(held);
  if (!isCutOff) return readReport(response, handedOver(business));
  return {
    kind: 'thrown',
    error: named('TimeoutError', 'The batch ended without an answer, close to the deadline.'),
  };
}
