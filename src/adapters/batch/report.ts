/** What a batch handler said of its records, in a shape that Lambda reads the same way; or why it would not. */
export type Report =
  | { readonly kind: 'reported'; readonly failed: ReadonlySet<string> }
  | { readonly kind: 'misread'; readonly fault: string };

/**
 * Reads a handler's response as Lambda does. An empty response and an empty or null list mean that all succeeded; every
 * other deviation would make Lambda send the whole batch again.
 */
export function readReport(response: unknown, known: ReadonlySet<string>): Report {
  if (response === undefined || response === null) return { kind: 'reported', failed: new Set() };
  if (typeof response !== 'object' || Array.isArray(response)) return misread('is no object');
  const names = Object.keys(response);
  if (names.length === 0) return { kind: 'reported', failed: new Set() };
  if (!('batchItemFailures' in response)) return misread('has no batchItemFailures');
  const { batchItemFailures: list } = response;
  if (list === null || list === undefined) return { kind: 'reported', failed: new Set() };
  if (!Array.isArray(list)) return misread('has batchItemFailures that are no list');
  const identifiers = list.map(
    (item: unknown) => (item as { itemIdentifier?: unknown } | null)?.itemIdentifier,
  );
  const strange = identifiers.findIndex((identifier) => !known.has(identifier as string));
  if (strange >= 0) return misread(`names in batchItemFailures[${strange}] no record that it was handed`);
  return { kind: 'reported', failed: new Set(identifiers as string[]) };
}

function misread(fault: string): Report {
  return { kind: 'misread', fault };
}
