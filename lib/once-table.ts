import { RemovalPolicy } from 'aws-cdk-lib';
import type { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  AttributeType,
  Billing,
  CfnGlobalTable,
  type ITable,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
  type WarmThroughput,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { attribute, environment, metric, sweepIndex } from '../src/names.ts';
import { grantRole, type OnceRole } from './access.ts';
import { type OnceMetricOptions, onceMetric, replayRate } from './metrics.ts';
import { checkProps, replication } from './options.ts';

/** Options of {@link OnceTable}. */
export interface OnceTableProps {
  /** Default: CloudFormation chooses, so that two instances never clash. */
  readonly tableName?: string;
  /**
   * The sparse index that a sweep reads. Default `true`. Without it, writes cost less and each sweep reads the whole table.
   */
  readonly sweepIndex?: boolean;
  /** A stream of new images, which the outbox is relayed from. Default `false`. */
  readonly stream?: boolean;
  /** Encrypts with your own key. Every grant then covers the key as well. Default: DynamoDB's own. */
  readonly encryptionKey?: IKey;
  /** Default `true`: a lost claim is a duplicate, so the store must not forget. */
  readonly pointInTimeRecovery?: boolean;
  /** Default `true`. */
  readonly deletionProtection?: boolean;
  /** Default `RETAIN`: the records outlive the stack, since the retries do. */
  readonly removalPolicy?: RemovalPolicy;
  /** Capacity that is ready before the first request, for a launch that begins at full load. Default: DynamoDB's own. */
  readonly warmThroughput?: WarmThroughput;
  /**
   * A table that exists already, in place of a new one: `TableV2.fromTableAttributes(…)` with its `encryptionKey` and
   * `tableStreamArn`, where it has them. Besides it only `sweepIndex` may be given.
   */
  readonly table?: ITable | TableV2;
}

const options = [
  'tableName',
  'sweepIndex',
  'stream',
  'encryptionKey',
  'pointInTimeRecovery',
  'deletionProtection',
  'removalPolicy',
  'warmThroughput',
  'table',
];

/**
 * The table of claims: on demand, TTL on `expiresAt`, point-in-time recovery, deletion protection, kept when the stack goes. Its
 * attributes are the runtime's own and cannot be chosen. One Region: a replicated claim is won twice.
 */
export class OnceTable extends Construct {
  readonly table: ITable;
  readonly hasSweepIndex: boolean;
  /** Where this app makes the table. */
  readonly #resource: CfnGlobalTable | undefined;

  constructor(scope: Construct, id: string, props: OnceTableProps = {}) {
    super(scope, id);
    const { table, sweepIndex: hasSweepIndex = true } = props;
    checkProps('OnceTable', props, table === undefined ? options : ['table', 'sweepIndex']);
    this.hasSweepIndex = hasSweepIndex;
    // the class says that its stream's ARN may be `undefined`, the interface that it may be missing
    this.table = (table ?? this.#create(props)) as ITable;
    const { defaultChild } = this.table.node;
    if (!(defaultChild instanceof CfnGlobalTable)) return;
    this.#resource = defaultChild;
    // somebody may call `table.addReplica` later
    this.node.addValidation({ validate: () => refuseReplicas(defaultChild) });
  }

  /** Of the table's stream; `undefined` where it has none. */
  get streamArn(): string | undefined {
    const { tableStreamArn } = this.table;
    if (this.#resource === undefined) return tableStreamArn;
    // a `TableV2` names a stream also where it makes none
    const { stack, streamSpecification } = this.#resource;
    return stack.resolve(streamSpecification) === undefined ? undefined : tableStreamArn;
  }

  get tableName(): string {
    return this.table.tableName;
  }

  /**
   * Wires a function up: the table's name into its environment, and the permissions of its role, `claim` unless told. Works across
   * stacks: the function's stack depends on the table's, never the other way around.
   */
  connect(fn: LambdaFunction, role: OnceRole = 'claim'): this {
    fn.addEnvironment(environment.table, this.tableName);
    this.#grant(fn, role);
    return this;
  }

  /** For handlers: get, put, update, alone or in a transaction. */
  grantClaim(grantee: IGrantable): Grant {
    return this.#grant(grantee, 'claim');
  }

  /** For the status handler: get. */
  grantLookup(grantee: IGrantable): Grant {
    return this.#grant(grantee, 'lookup');
  }

  /** For people who look: get, and the list of what is open. */
  grantInspect(grantee: IGrantable): Grant {
    return this.#grant(grantee, 'inspect');
  }

  /** For people who settle by hand: get and update. */
  grantResolve(grantee: IGrantable): Grant {
    return this.#grant(grantee, 'resolve');
  }

  /** For a sweeper that {@link OnceSweeper} did not make: get, update, and the list of what is due. */
  grantSweep(grantee: IGrantable): Grant {
    return this.#grant(grantee, 'sweep');
  }

  /** A metric of the runtime by its name, such as `Claims` or `NotKept`. Needs `observe: emfMetrics()`. */
  metric(name: string, options?: OnceMetricOptions): Metric {
    return onceMetric(this.tableName, name, options);
  }

  /** Handlers that began to run: first runs and take-overs. */
  metricClaims(options?: OnceMetricOptions): Metric {
    return this.metric(metric.claims, options);
  }

  metricCompletions(options?: OnceMetricOptions): Metric {
    return this.metric(metric.completions, options);
  }

  metricReleases(options?: OnceMetricOptions): Metric {
    return this.metric(metric.releases, options);
  }

  metricHolds(options?: OnceMetricOptions): Metric {
    return this.metric(metric.holds, options);
  }

  metricReplays(options?: OnceMetricOptions): Metric {
    return this.metric(metric.replays, options);
  }

  /** Duplicates that came while the first was running. */
  metricBusy(options?: OnceMetricOptions): Metric {
    return this.metric(metric.busy, options);
  }

  /** Keys that came again with another request. */
  metricMismatches(options?: OnceMetricOptions): Metric {
    return this.metric(metric.mismatches, options);
  }

  /** Retries that were told that nobody knows. */
  metricInDoubt(options?: OnceMetricOptions): Metric {
    return this.metric(metric.inDoubt, options);
  }

  metricLeasesLost(options?: OnceMetricOptions): Metric {
    return this.metric(metric.leasesLost, options);
  }

  metricStoreFailures(options?: OnceMetricOptions): Metric {
    return this.metric(metric.storeFailures, options);
  }

  /** Handlers that ran and whose outcome could not be stored. */
  metricCompletionFailures(options?: OnceMetricOptions): Metric {
    return this.metric(metric.completionFailures, options);
  }

  /** Percent of deliveries that were replays. */
  metricReplayRate(options?: OnceMetricOptions): MathExpression {
    return replayRate(this.tableName, options);
  }

  #grant(grantee: IGrantable, role: OnceRole): Grant {
    return grantRole(grantee, role, this.table, this.hasSweepIndex);
  }

  #create(props: OnceTableProps): TableV2 {
    const { tableName, stream = false, encryptionKey, warmThroughput } = props;
    const { pointInTimeRecovery = true, deletionProtection = true } = props;
    const index = {
      indexName: sweepIndex.name,
      partitionKey: { name: attribute.sweep, type: AttributeType.STRING },
      sortKey: { name: attribute.dueAt, type: AttributeType.NUMBER },
      projectionType: ProjectionType.KEYS_ONLY,
    };
    return new TableV2(this, 'Table', {
      partitionKey: { name: attribute.id, type: AttributeType.STRING },
      billing: Billing.onDemand(),
      timeToLiveAttribute: attribute.expiresAt,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: pointInTimeRecovery },
      deletionProtection,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
      globalSecondaryIndexes: this.hasSweepIndex ? [index] : [],
      ...(tableName !== undefined && { tableName }),
      ...(stream && { dynamoStream: StreamViewType.NEW_IMAGE }),
      ...(encryptionKey !== undefined && { encryption: TableEncryptionV2.customerManagedKey(encryptionKey) }),
      ...(warmThroughput !== undefined && { warmThroughput }),
    });
  }
}

function refuseReplicas({ stack, replicas }: CfnGlobalTable): string[] {
  const resolved: unknown = stack.resolve(replicas);
  const isReplicated = Array.isArray(resolved) && resolved.length > 1;
  return isReplicated ? [`OnceTable: ${replication('a replica')}.`] : [];
}
