import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import * as cdk from '../../lib/index.ts';
import * as main from '../../src/index.ts';
import * as metrics from '../../src/metrics.ts';
import * as outbox from '../../src/outbox.ts';
import * as status from '../../src/status.ts';
import * as sweeper from '../../src/sweeper.ts';
import * as testing from '../../src/testing.ts';

// A change to one of these lists is a change to the public surface: it belongs into CHANGELOG.md, in the same commit.

const values = {
  '../lib/index.ts': [
    'OnceAlarms',
    'OnceDashboard',
    'OnceOutbox',
    'OnceQueueConsumer',
    'OnceSweeper',
    'OnceTable',
  ],
  'index.ts': [
    'CommitRefused',
    'IdempotencyError',
    'attributeKey',
    'bodyKey',
    'claimOf',
    'conditionalWrite',
    'deduplicationKey',
    'defaultDeniedHeaders',
    'defineEffect',
    'deriveKey',
    'deriveUuid',
    'dynamoStore',
    'eventBridgeKey',
    'eventKey',
    'idempotency',
    'idempotent',
    'idempotentHttp',
    'idempotentSqs',
    'idempotentStream',
    'imageKey',
    'isCommitRefused',
    'isIdempotencyError',
    'messageIdKey',
    'scheduleKey',
    'snsKey',
    'sqsIdempotency',
  ],
  'metrics.ts': ['emfMetrics'],
  'outbox.ts': ['eventBridgeSender', 'outboxHandler', 'snsSender', 'sqsSender'],
  'status.ts': ['statusHandler'],
  'sweeper.ts': ['sweepHandler'],
  'testing.ts': ['createOnceTable', 'memoryStore'],
};

const types = {
  '../lib/index.ts': [
    'OnceAlarmsProps',
    'OnceDashboardProps',
    'OnceMetricOptions',
    'OnceOutboxProps',
    'OnceQueueConsumerProps',
    'OnceRole',
    'OnceSweeperProps',
    'OnceTableProps',
  ],
  'index.ts': [
    'Attributes',
    'BatchOptions',
    'BatchResponse',
    'BodySelection',
    'BusinessKey',
    'Claim',
    'ClaimedHandler',
    'CommitOptions',
    'ConditionalWrite',
    'ConditionalWriteOptions',
    'Duration',
    'DynamoClient',
    'DynamoRecordLike',
    'DynamoStoreOptions',
    'Effect',
    'EffectOptions',
    'ErrorCode',
    'ErrorDetail',
    'FailureVerdict',
    'FunctionOptions',
    'HttpAnswer',
    'HttpEvent',
    'HttpFingerprint',
    'HttpOptions',
    'IdempotentFunction',
    'Json',
    'KinesisRecordLike',
    'LambdaContext',
    'LapsedClaim',
    'Lookup',
    'LookupEffect',
    'LookupQuery',
    'Makers',
    'MiddyHooks',
    'MiddyRequest',
    'NotKept',
    'Observer',
    'OnLapse',
    'OnceEvent',
    'OnceRecord',
    'OperationOptions',
    'OutboxMessage',
    'Outcome',
    'Reconcile',
    'ReconcileContext',
    'Reconciled',
    'Rejection',
    'Resolution',
    'RunContext',
    'SeatedHandler',
    'SqsOptions',
    'SqsRecordLike',
    'Store',
    'StreamOptions',
    'StreamRecordLike',
    'ValueVerdict',
    'WriteAction',
  ],
  'metrics.ts': ['MetricsOptions'],
  'outbox.ts': ['OutboxDelivery', 'OutboxEvent', 'OutboxOptions', 'Sender'],
  'status.ts': ['OperationStatus', 'StatusOptions'],
  'sweeper.ts': ['OpenRecord', 'SweepOptions', 'SweepReport'],
  'testing.ts': ['CreateOnceTableOptions', 'MemoryStoreOptions'],
};

/** Every name that a file exports, types included; nothing is exported by `*`. */
async function exportsOf(file: string): Promise<string[]> {
  const text = await readFile(new URL(`../../src/${file}`, import.meta.url), 'utf8');
  expect(text).not.toMatch(/export \*/);
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
    names.split(','),
  );
  const own = [...text.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm)];
  const named = lists.map((name) => name.trim().replace(/^type /, '')).filter((name) => name !== '');
  return [...named, ...own.map(([, name = '']) => name)].sort();
}

test.each([
  ['../lib/index.ts', cdk],
  ['index.ts', main],
  ['metrics.ts', metrics],
  ['outbox.ts', outbox],
  ['status.ts', status],
  ['sweeper.ts', sweeper],
  ['testing.ts', testing],
] as const)('P10: %s exports these values and these types, and nothing else', async (file, module) => {
  expect(Object.keys(module).sort()).toEqual(values[file]);
  expect(await exportsOf(file)).toEqual([...values[file], ...types[file]].sort());
});
