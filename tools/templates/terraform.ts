import { type Json, type Resource, sweeperCode } from './synthesised.ts';

type Resources = Readonly<Record<string, Resource>>;

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: Json;
}

/** A line `name = value`, or a block. */
type Part = readonly [name: string, value: string] | string;

/** Body of a block, as `terraform fmt` has it: the equals signs of neighbouring lines stand below one another. */
function body(parts: readonly Part[]): string {
  const lines: string[] = [];
  let group: (readonly [string, string])[] = [];
  const flush = (): void => {
    const width = Math.max(0, ...group.map(([name]) => name.length));
    lines.push(...group.map(([name, value]) => `${name.padEnd(width)} = ${value}`));
    group = [];
  };
  for (const part of parts) {
    if (typeof part !== 'string') {
      group.push(part);
      continue;
    }
    flush();
    if (lines.length > 0) lines.push('');
    lines.push(part);
  }
  flush();
  return lines.join('\n').replace(/^(?=.)/gm, '  ');
}

function block(head: string, ...parts: readonly Part[]): string {
  return parts.length === 0 ? `${head} {}` : `${head} {\n${body(parts)}\n}`;
}

const quote = (value: unknown): string => JSON.stringify(value);

/** What a part of the template is called in Terraform. */
const references: Readonly<Record<string, string>> = {
  OnceTable: 'aws_dynamodb_table.once.arn',
  SweeperDeadLetters: 'aws_sqs_queue.sweeper_dead_letters.arn',
  SweeperFunction: 'aws_lambda_function.sweeper.arn',
};

/** An ARN of the template as an expression: `{ "Fn::GetAtt": [...] }`, or joined with a text. */
function arn(resource: Json): string {
  const { 'Fn::GetAtt': attribute, 'Fn::Join': join } = resource as Record<string, Json>;
  if (Array.isArray(attribute)) {
    const [id = ''] = attribute as readonly string[];
    const reference = references[id];
    if (reference === undefined) throw new Error(`Nothing is known of ${id}.`);
    return reference;
  }
  const [, [first, rest]] = join as unknown as [string, [Json, string]];
  return `"\${${arn(first)}}${rest}"`;
}

function policy(name: string, { Properties }: Resource): string {
  const { Statement } = Properties.PolicyDocument as unknown as { Statement: readonly Statement[] };
  const statements = Statement.map(({ Action, Resource }) => {
    const resources = (Array.isArray(Resource) ? Resource : [Resource]) as Json[];
    return block(
      'statement',
      ['actions', list([Action].flat().map(quote))],
      ['resources', list(resources.map(arn))],
    );
  });
  return block(`data "aws_iam_policy_document" ${quote(name)}`, ...statements);
}

function list(items: readonly string[]): string {
  return `[${items.join(', ')}]`;
}

/** The same for Terraform and OpenTofu, with the provider for AWS. */
export function terraform(resources: Resources): string {
  const of = (id: string): Resource => {
    const resource = resources[id];
    if (resource === undefined) throw new Error(`There is no ${id}.`);
    return resource;
  };
  const blocks = [
    table(of('OnceTable')),
    ...['Claim', 'Lookup', 'Inspect', 'Resolve'].map((role) =>
      policy(`once_${role.toLowerCase()}`, of(`${role}Policy`)),
    ),
    policy('once_sweep', of('SweeperPolicy')),
    ...sweeper(of),
    block('output "once_table"', ['value', 'aws_dynamodb_table.once.name']),
  ];
  return `# Generated from the constructs of lambda-once by \`npm run templates\`.\n\n${blocks.join('\n\n')}\n`;
}

function table({ Properties }: Resource): string {
  const {
    AttributeDefinitions,
    BillingMode,
    GlobalSecondaryIndexes,
    KeySchema,
    Replicas,
    TimeToLiveSpecification,
  } = Properties as unknown as {
    AttributeDefinitions: readonly { AttributeName: string; AttributeType: string }[];
    BillingMode: string;
    GlobalSecondaryIndexes: readonly {
      IndexName: string;
      KeySchema: readonly { AttributeName: string }[];
      Projection: { ProjectionType: string };
    }[];
    KeySchema: readonly { AttributeName: string }[];
    Replicas: readonly {
      DeletionProtectionEnabled: boolean;
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: boolean };
    }[];
    TimeToLiveSpecification: { AttributeName: string; Enabled: boolean };
  };
  const [replica] = Replicas;
  return block(
    'resource "aws_dynamodb_table" "once"',
    ['name', '"lambda-once"'],
    ['billing_mode', quote(BillingMode)],
    ['hash_key', quote(KeySchema[0]?.AttributeName)],
    ['deletion_protection_enabled', quote(replica?.DeletionProtectionEnabled)],
    ...AttributeDefinitions.map(({ AttributeName, AttributeType }) =>
      block('attribute', ['name', quote(AttributeName)], ['type', quote(AttributeType)]),
    ),
    block(
      'ttl',
      ['attribute_name', quote(TimeToLiveSpecification.AttributeName)],
      ['enabled', quote(TimeToLiveSpecification.Enabled)],
    ),
    block('point_in_time_recovery', [
      'enabled',
      quote(replica?.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled),
    ]),
    ...GlobalSecondaryIndexes.map(({ IndexName, KeySchema: [hash, range], Projection }) =>
      block(
        'global_secondary_index',
        ['name', quote(IndexName)],
        ['hash_key', quote(hash?.AttributeName)],
        ['range_key', quote(range?.AttributeName)],
        ['projection_type', quote(Projection.ProjectionType)],
      ),
    ),
    block('lifecycle', ['prevent_destroy', 'true']),
  );
}

function sweeper(of: (id: string) => Resource): string[] {
  const fn = of('SweeperFunction').Properties;
  const retries = of('SweeperRetries').Properties;
  const queue = of('SweeperDeadLetters').Properties;
  const schedule = of('SweeperSchedule').Properties;
  const logs = of('SweeperLogs').Properties;
  const { RetryPolicy } = schedule.Target as { readonly RetryPolicy: Record<string, Json> };
  const [variable = ''] = Object.keys((fn.Environment as { Variables: object }).Variables);
  const role = (name: string, service: string, ...conditions: readonly string[]): string[] => [
    block(
      `data "aws_iam_policy_document" "${name}_trust"`,
      block(
        'statement',
        ['actions', '["sts:AssumeRole"]'],
        block('principals', ['type', '"Service"'], ['identifiers', list([quote(service)])]),
        ...conditions,
      ),
    ),
    block(
      `resource "aws_iam_role" ${quote(name)}`,
      ['name', quote(`lambda-once-${name}`)],
      ['assume_role_policy', `data.aws_iam_policy_document.${name}_trust.json`],
    ),
  ];
  const inline = (name: string, document: string): string =>
    block(
      `resource "aws_iam_role_policy" ${quote(name)}`,
      ['role', `aws_iam_role.${name}.id`],
      ['policy', `data.aws_iam_policy_document.${document}.json`],
    );
  return [
    block(
      'data "archive_file" "sweeper"',
      ['type', '"zip"'],
      ['source_dir', quote(sweeperCode)],
      ['output_path', '".terraform/lambda-once-sweeper.zip"'],
    ),
    block('data "aws_partition" "current"'),
    ...role('sweeper', 'lambda.amazonaws.com'),
    inline('sweeper', 'once_sweep'),
    block(
      'resource "aws_iam_role_policy_attachment" "sweeper_logs"',
      ['role', 'aws_iam_role.sweeper.name'],
      [
        'policy_arn',
        `"arn:\${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"`,
      ],
    ),
    block(
      'resource "aws_cloudwatch_log_group" "sweeper"',
      ['name', '"/aws/lambda/lambda-once-sweeper"'],
      ['retention_in_days', quote(logs.RetentionInDays)],
    ),
    block(
      'resource "aws_lambda_function" "sweeper"',
      ['function_name', '"lambda-once-sweeper"'],
      ['role', 'aws_iam_role.sweeper.arn'],
      ['filename', 'data.archive_file.sweeper.output_path'],
      ['source_code_hash', 'data.archive_file.sweeper.output_base64sha256'],
      ['handler', quote(fn.Handler)],
      ['runtime', quote(fn.Runtime)],
      ['architectures', quote(fn.Architectures)],
      ['memory_size', quote(fn.MemorySize)],
      ['timeout', quote(fn.Timeout)],
      ['reserved_concurrent_executions', quote(fn.ReservedConcurrentExecutions)],
      block('environment', ['variables', `{ ${variable} = aws_dynamodb_table.once.name }`]),
      block(
        'logging_config',
        ['log_format', '"Text"'],
        ['log_group', 'aws_cloudwatch_log_group.sweeper.name'],
      ),
    ),
    block(
      'resource "aws_lambda_function_event_invoke_config" "sweeper"',
      ['function_name', 'aws_lambda_function.sweeper.function_name'],
      ['maximum_event_age_in_seconds', quote(retries.MaximumEventAgeInSeconds)],
      ['maximum_retry_attempts', quote(retries.MaximumRetryAttempts)],
      block(
        'destination_config',
        block('on_failure', ['destination', 'aws_sqs_queue.sweeper_dead_letters.arn']),
      ),
    ),
    block(
      'resource "aws_sqs_queue" "sweeper_dead_letters"',
      ['name', '"lambda-once-sweeper-dead-letters"'],
      ['message_retention_seconds', quote(queue.MessageRetentionPeriod)],
      ['sqs_managed_sse_enabled', quote(queue.SqsManagedSseEnabled)],
    ),
    ...tlsOnly(),
    block('data "aws_caller_identity" "current"'),
    ...role(
      'scheduler',
      'scheduler.amazonaws.com',
      block(
        'condition',
        ['test', '"StringEquals"'],
        ['variable', '"aws:SourceAccount"'],
        ['values', '[data.aws_caller_identity.current.account_id]'],
      ),
    ),
    policy('scheduler', of('SchedulerPolicy')),
    inline('scheduler', 'scheduler'),
    block(
      'resource "aws_scheduler_schedule" "sweeper"',
      ['name', '"lambda-once-sweeper"'],
      ['schedule_expression', quote(schedule.ScheduleExpression)],
      block('flexible_time_window', ['mode', '"OFF"']),
      block(
        'target',
        ['arn', 'aws_lambda_function.sweeper.arn'],
        ['role_arn', 'aws_iam_role.scheduler.arn'],
        block('dead_letter_config', ['arn', 'aws_sqs_queue.sweeper_dead_letters.arn']),
        block(
          'retry_policy',
          ['maximum_event_age_in_seconds', quote(RetryPolicy.MaximumEventAgeInSeconds)],
          ['maximum_retry_attempts', quote(RetryPolicy.MaximumRetryAttempts)],
        ),
      ),
    ),
  ];
}

/** The dead letters are sent over TLS or not at all. */
function tlsOnly(): string[] {
  return [
    block(
      'data "aws_iam_policy_document" "tls_only"',
      block(
        'statement',
        ['effect', '"Deny"'],
        ['actions', '["sqs:*"]'],
        ['resources', '[aws_sqs_queue.sweeper_dead_letters.arn]'],
        block('principals', ['type', '"AWS"'], ['identifiers', '["*"]']),
        block(
          'condition',
          ['test', '"Bool"'],
          ['variable', '"aws:SecureTransport"'],
          ['values', '["false"]'],
        ),
      ),
    ),
    block(
      'resource "aws_sqs_queue_policy" "sweeper_dead_letters"',
      ['queue_url', 'aws_sqs_queue.sweeper_dead_letters.id'],
      ['policy', 'data.aws_iam_policy_document.tls_only.json'],
    ),
  ];
}
