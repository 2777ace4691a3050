/** Everything public, by name. A change here shows in the type tests and in CHANGELOG.md. */
export { idempotentSqs, type SqsOptions } from './adapters/batch/idempotent-sqs.ts';
export {
  idempotentStream,
  type StreamOptions,
  type StreamRecordLike,
} from './adapters/batch/idempotent-stream.ts';
export {
  attributeKey,
  type BusinessKey,
  bodyKey,
  deduplicationKey,
  eventBridgeKey,
  imageKey,
  messageIdKey,
  scheduleKey,
  snsKey,
} from './adapters/batch/keys.ts';
export type { BatchOptions } from './adapters/batch/options.ts';
export type { DynamoRecordLike, KinesisRecordLike, SqsRecordLike } from './adapters/batch/payload.ts';
export type { BatchResponse } from './adapters/batch/response.ts';
export { type FunctionOptions, type IdempotentFunction, idempotent } from './adapters/function.ts';

export type { HttpEvent } from './adapters/http/event.ts';
export { type ClaimedHandler, idempotentHttp, type SeatedHandler } from './adapters/http/idempotent-http.ts';
export { defaultDeniedHeaders, type HttpFingerprint, type HttpOptions } from './adapters/http/options.ts';
export type { HttpAnswer } from './adapters/http/problem.ts';
export type { Json } from './domain/canonical-json.ts';
export { deriveKey, deriveUuid, eventKey } from './domain/derive.ts';
export type { Duration } from './domain/duration.ts';
export type { BodySelection } from './domain/fingerprint.ts';
export type { NotKept, Outcome, Rejection } from './domain/outcome.ts';
export type { OnceRecord } from './domain/record.ts';
export type { Makers } from './engine/capture.ts';
export type { Claim } from './engine/claim.ts';
export type { CommitOptions, OutboxMessage } from './engine/commit.ts';
export {
  defineEffect,
  type Effect,
  type EffectOptions,
  type ReconcileContext,
  type RunContext,
} from './engine/effect.ts';
export type { Observer, OnceEvent } from './engine/observe.ts';
export type { LapsedClaim, OnLapse, OperationOptions, Reconcile, Reconciled } from './engine/options.ts';
export type { LambdaContext } from './engine/request.ts';
export type { FailureVerdict, ValueVerdict } from './engine/verdict.ts';
export {
  CommitRefused,
  type ErrorCode,
  type ErrorDetail,
  IdempotencyError,
  isCommitRefused,
  isIdempotencyError,
} from './errors.ts';
export { claimOf } from './middleware/claim-of.ts';
export { idempotency } from './middleware/idempotency.ts';
export type { MiddyHooks, MiddyRequest } from './middleware/middy.ts';
export { sqsIdempotency } from './middleware/sqs-idempotency.ts';
export type { Attributes, WriteAction } from './store/commit.ts';
export {
  type ConditionalWrite,
  type ConditionalWriteOptions,
  conditionalWrite,
} from './store/dynamo/conditional-write.ts';
export { type DynamoClient, type DynamoStoreOptions, dynamoStore } from './store/dynamo/store.ts';
export type { Lookup, LookupEffect, LookupQuery, Resolution } from './store/inspect.ts';
export type { Store } from './store/store.ts';
