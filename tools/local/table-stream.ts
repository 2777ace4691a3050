import { setTimeout as sleep } from 'node:timers/promises';
import { type DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb';

/** A record of a table's stream, as a function gets it. */
export interface StreamRecord {
  readonly eventName: string;
  readonly dynamodb: {
    readonly SequenceNumber: string;
    readonly Keys: Readonly<Record<string, { readonly S?: string }>>;
    readonly NewImage?: Readonly<Record<string, { readonly S?: string; readonly N?: string }>>;
  };
}

/** Which table, whose records, and who is called. */
export interface StreamOptions {
  readonly client: DynamoDBClient;
  readonly endpoint: string;
  readonly tableName: string;
  /** Only items whose key `id` begins like this, as the filter of a mapping would have it. */
  readonly prefix: string;
  /** What it does not answer, or answers with an error, is delivered again. */
  readonly invoke: (event: {
    readonly Records: readonly StreamRecord[];
  }) => Promise<{ readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] }>;
}

/**
 * Polls a table's stream for a function as Lambda does, from its beginning: in order, with partial batch responses, and from the
 * first failure on once more. One shard, which is what the local engine has.
 */
export async function startTableStream(options: StreamOptions): Promise<{ stop: () => Promise<void> }> {
  const { client, endpoint, tableName, prefix, invoke } = options;
  const { TableDescription } = await client.send(
    new UpdateTableCommand({
      TableName: tableName,
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    }),
  );
  const StreamArn = TableDescription?.LatestStreamArn;
  const call = streams(endpoint);
  let isStopping = false;
  /** The records up to here are done with. */
  let checkpoint = 0;

  const poll = async (): Promise<void> => {
    const { StreamDescription } = await call<{ StreamDescription: { Shards: { ShardId: string }[] } }>(
      'DescribeStream',
      { StreamArn },
    );
    const ShardId = StreamDescription.Shards[0]?.ShardId;
    const shard = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' };
    const { ShardIterator } = await call<{ ShardIterator: string }>('GetShardIterator', shard);
    const { Records } = await call<{ Records: StreamRecord[] }>('GetRecords', { ShardIterator });
    const Fresh = Records.slice(checkpoint).filter(({ dynamodb }) => dynamodb.Keys.id?.S?.startsWith(prefix));
    if (Fresh.length === 0) return;
    const { batchItemFailures } = await invoke({ Records: Fresh });
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const first = Records.findIndex(({ dynamodb }) => failed.has(dynamodb.SequenceNumber));
    checkpoint = first === -1 ? Records.length : first;
  };
  const polling = (async () => {
    while (!isStopping) {
      await poll().catch(() => undefined);
      await sleep(50);
    }
  })();
  return {
    stop: async () => {
      isStopping = true;
      await polling;
    },
  };
}

/** The streams API of a local engine, which asks for a signature and does not look at it. */
function streams(endpoint: string): <Answer>(operation: string, body: object) => Promise<Answer> {
  const credential =
    'Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none';
  return async <Answer>(operation: string, body: object) => {
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDBStreams_20120810.${operation}`,
        'x-amz-date': '20260101T000000Z',
        authorization: `AWS4-HMAC-SHA256 ${credential}`,
      },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${operation}: ${answer.status}`);
    return (await answer.json()) as Answer;
  };
}
