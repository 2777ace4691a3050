import { IdempotencyError } from '../../errors.ts';

/** What an event source mapping with `ReportBatchItemFailures` reads. */
export interface BatchResponse {
  batchItemFailures: { itemIdentifier: string }[];
}

/**
 * Every record's identifier, checked: Lambda takes an empty or unknown one for a failure of the whole batch, silently.
 *
 * @throws IdempotencyError `input-invalid` for the whole batch: nothing was claimed
 */
export function identifiersOf<Item>(
  records: unknown,
  identifierOf: (record: Item) => unknown,
): Map<Item, string> {
  if (!Array.isArray(records)) {
    throw new IdempotencyError(
      'input-invalid',
      'The event has no list of Records: it is not from this event source.',
    );
  }
  return new Map(
    records.map((record: Item, index) => {
      const identifier = record === null || typeof record !== 'object' ? undefined : identifierOf(record);
      if (typeof identifier === 'string' && identifier !== '') return [record, identifier];
      throw new IdempotencyError('input-invalid', `Records[${index}] has no identifier to report it by.`);
    }),
  );
}

/** The response for these records, each once, in the order of the batch; or an error, where the mapping wants one. */
export function respond(
  deliveries: readonly Identifiable[],
  failed: Iterable<Identifiable>,
  onFailures: 'report' | 'throw',
): BatchResponse {
  const failures = new Set(Array.from(failed, ({ identifier }) => identifier));
  const identifiers = new Set(deliveries.map(({ identifier }) => identifier));
  const reported = [...identifiers].filter((identifier) => failures.has(identifier));
  if (onFailures === 'throw' && reported.length > 0) {
    throw new Error(`${reported.length} records of the batch failed; those that are done will replay.`);
  }
  return { batchItemFailures: reported.map((itemIdentifier) => ({ itemIdentifier })) };
}

interface Identifiable {
  readonly identifier: string;
}
