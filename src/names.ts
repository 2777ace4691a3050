/** Every name that a table, a policy or an environment can see. `lib/` imports this file and nothing else of `src/`. */

/** Attributes of a record. Fixed: a table written by one version is read by the next. */
export const attribute = {
  /** Partition key: operation, `#`, digest of operation, scope and key. */
  id: 'id',
  state: 'state',
  owner: 'owner',
  fence: 'fence',
  attempt: 'attempt',
  fingerprint: 'fingerprint',
  /** Epoch milliseconds. */
  claimedAt: 'claimedAt',
  /** Epoch milliseconds. */
  leaseUntil: 'leaseUntil',
  /** Epoch milliseconds; set when a claim was completed, released or resolved. */
  endedAt: 'endedAt',
  /** Epoch SECONDS, because DynamoDB's TTL reads it. */
  expiresAt: 'expiresAt',
  outcome: 'outcome',
  /** What the operation says about a lapsed claim, and how its times are counted: so a sweep needs no configuration. */
  onLapse: 'onLapse',
  /** Milliseconds. */
  retention: 'retention',
  /** Milliseconds. */
  skew: 'skew',
  /** `effects` where the body ended by itself and only effects are undecided. */
  doubtOf: 'doubtOf',
  /** How often a sweep could not settle the record. */
  asked: 'asked',
  /** Fresh random id of whoever put the record in doubt: of two, one did it. */
  examinedBy: 'examinedBy',
  resolvedBy: 'resolvedBy',
  resolvedWhy: 'resolvedWhy',
  /** Partition key of the sweep index. Only what a sweep must look at has it. */
  sweep: 'sweep',
  /** Sort key of the sweep index: epoch milliseconds from which a sweep should look. */
  dueAt: 'dueAt',
} as const;

/** Attributes of the items beside the records: permanent uniqueness, and the outbox. */
export const companion = {
  operation: 'operation',
  /** Id of the record whose commit put it. */
  record: 'record',
  fingerprint: 'fingerprint',
  /** What the committing handler calls the thing. */
  reference: 'reference',
  /** HTTP status of the first answer. */
  status: 'status',
  /** Epoch milliseconds. */
  createdAt: 'createdAt',
  /** The events of one commit, as JSON. */
  events: 'events',
  /** Epoch SECONDS; outbox items only. */
  expiresAt: 'expiresAt',
} as const;

/** What ids of the items beside the records begin with: no operation's name does. A stream filter may name them. */
export const companionPrefix = {
  unique: '#unique#',
  outbox: '#outbox#',
} as const;

/** What attribute names of the journal and of captured values begin with. The rest is the name the user gave. */
export const prefix = {
  effect: 'effect#',
  value: 'value#',
} as const;

/** The sparse index that a sweep reads: it holds open claims and nothing else. */
export const sweepIndex = {
  name: 'sweep',
  /** Partitions that open claims are spread over: one would take no more than 1,000 claims a second. */
  shards: 8,
} as const;

export const environment = {
  /** Name of the table, read when the first request comes, never at import. */
  table: 'LAMBDA_ONCE_TABLE',
  /** `true` or `1` switches every adapter off: handlers run unprotected, no store call, no client. */
  disabled: 'LAMBDA_ONCE_DISABLED',
  /** Where the prebuilt relay sends: one of a queue's URL, a topic's ARN and a bus's name. */
  outboxQueue: 'LAMBDA_ONCE_OUTBOX_QUEUE',
  outboxTopic: 'LAMBDA_ONCE_OUTBOX_TOPIC',
  outboxBus: 'LAMBDA_ONCE_OUTBOX_BUS',
  /** What the relay tells a bus as `source`. Default `lambda-once`. */
  outboxSource: 'LAMBDA_ONCE_OUTBOX_SOURCE',
} as const;

/** CloudWatch metrics. What the runtime emits is what the alarms look at, by these names. */
export const metric = {
  namespace: 'LambdaOnce',
  /** Name of the table: two stages in one account are told apart by it. */
  tableDimension: 'table',
  /** Name of the operation; each metric is also emitted without it, over all operations. */
  operationDimension: 'operation',
  /** Counts of decisions. */
  claims: 'Claims',
  completions: 'Completions',
  releases: 'Releases',
  holds: 'Holds',
  replays: 'Replays',
  busy: 'Busy',
  mismatches: 'Mismatches',
  inDoubt: 'InDoubt',
  refusals: 'Refusals',
  bypasses: 'Bypasses',
  notKept: 'NotKept',
  leasesLost: 'LeasesLost',
  storeFailures: 'StoreFailures',
  completionFailures: 'CompletionFailures',
  /** Counts of one sweep, zero when nothing is stuck. */
  sweepExamined: 'SweepExamined',
  sweepCompleted: 'SweepCompleted',
  sweepReleased: 'SweepReleased',
  sweepInDoubt: 'SweepInDoubt',
  sweepSettling: 'SweepSettling',
  sweepFailed: 'SweepFailed',
  sweepTruncated: 'SweepTruncated',
  /** Milliseconds. */
  sweepOldestAge: 'SweepOldestAge',
  /** What the engine says about the table, which it counts again every six hours. */
  tableItems: 'TableItems',
  tableBytes: 'TableBytes',
} as const;
