import { IdempotencyError } from '../../errors.ts';

/** Why the store could not answer, in the words an operator acts on. */
type Reason = 'timeout' | 'throttled' | 'denied' | 'table-missing' | 'table-shape' | 'network' | 'service';

const reasons: Record<string, Reason> = {
  AbortError: 'timeout',
  TimeoutError: 'timeout',
  ProvisionedThroughputExceededException: 'throttled',
  ThrottlingException: 'throttled',
  RequestLimitExceeded: 'throttled',
  AccessDeniedException: 'denied',
  CredentialsProviderError: 'denied',
  ExpiredTokenException: 'denied',
  UnrecognizedClientException: 'denied',
  ResourceNotFoundException: 'table-missing',
  ValidationException: 'table-shape',
};

const advice: Record<Reason, string> = {
  timeout: 'it did not answer in time',
  throttled: 'it is throttled',
  denied: 'access was denied: the role needs dynamodb:GetItem, PutItem and UpdateItem on the table',
  'table-missing': 'the table does not exist',
  'table-shape': 'the table refused the request: it needs the partition key `id` (String) and no sort key',
  network: 'it could not be reached',
  service: 'it failed',
};

/** Seconds: a blip of the table or a throttled partition is usually over by then. */
const retryAfter = 2;

/** Any failure of the SDK as our error: fail closed, 503. The cause keeps the SDK's error, which holds no item. */
export function storeFailure(error: unknown, tableName: string): IdempotencyError {
  const { name, code } = error as { name?: string; code?: string };
  // the SDK calls a broken connection a TimeoutError; its code tells what it was
  const isBroken = code?.startsWith('ECONN') ?? false;
  const reason = isBroken ? 'network' : (reasons[name ?? ''] ?? (code === undefined ? 'service' : 'network'));
  const message = `The idempotency store (table "${tableName}") cannot be used: ${advice[reason]}.`;
  return new IdempotencyError('store', message, { retryAfter, cause: error });
}
