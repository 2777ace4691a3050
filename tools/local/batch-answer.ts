import type { InvokeResult } from './result.ts';

/** What an invocation said of its batch. */
export type BatchAnswer =
  | { readonly kind: 'reported'; readonly failed: ReadonlySet<string> }
  /** Every record of the batch comes again. */
  | { readonly kind: 'whole-batch'; readonly reason: string };

/**
 * Reads the end of an invocation as Lambda does. Without `ReportBatchItemFailures` any response is a success. With it, an
 * empty or null response and an empty or null list are; and whatever Lambda cannot make sense of, such as an identifier
 * that is empty, unknown or under another name, fails the whole batch.
 */
export function readBatchAnswer(
  result: InvokeResult,
  identifiers: ReadonlySet<string>,
  reportsItems: boolean,
): BatchAnswer {
  if (result.kind !== 'response') return wholeBatch(result.kind);
  const { payload } = result;
  if (!reportsItems || payload === null) return { kind: 'reported', failed: new Set() };
  if (typeof payload !== 'object' || Array.isArray(payload)) return wholeBatch('the response is no object');
  if (Object.keys(payload).length === 0) return { kind: 'reported', failed: new Set() };
  const { batchItemFailures: items } = payload as { batchItemFailures?: unknown };
  if (items === null) return { kind: 'reported', failed: new Set() };
  if (!Array.isArray(items)) return wholeBatch('batchItemFailures is no list');
  const failed = items.map((item: { itemIdentifier?: unknown } | null) => item?.itemIdentifier);
  const isKnown = (identifier: unknown): identifier is string => identifiers.has(identifier as string);
  return failed.every(isKnown)
    ? { kind: 'reported', failed: new Set(failed) }
    : wholeBatch('an itemIdentifier is not of this batch');
}

function wholeBatch(reason: string): BatchAnswer {
  return { kind: 'whole-batch', reason };
}
