import {
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  type ScanCommandInput,
} from '@aws-sdk/client-dynamodb';
import { shards } from '../../domain/shard.ts';
import { attribute, sweepIndex } from '../../names.ts';
import type { DuePage } from '../store.ts';
import { type Item, toAttribute } from './item.ts';

/** A page as the engine gives it. */
export interface Listed {
  readonly Items?: readonly Item[];
  readonly LastEvaluatedKey?: Item;
}

type Send = (command: object) => Promise<Listed>;

/**
 * What is due, from the sweep index: it costs what is due, however large the table is. Shards come in an order that
 * changes, so that a sweep which runs out of time does not always leave out the same ones. Where the table has no such
 * index, all of it is read.
 */
export async function* duePages(send: Send, tableName: string, before: number): AsyncGenerator<DuePage> {
  const first = Math.floor(Math.random() * shards.length);
  const turned = [...shards.slice(first), ...shards.slice(0, first)];
  for (const shard of turned) {
    const query = dueRequest(tableName, shard, before);
    try {
      yield* pages('index', (start) => send(new QueryCommand({ ...query, ...start })));
    } catch (error) {
      if (!isWithoutIndex(error)) throw error;
      const scan = scanRequest(tableName, before);
      yield* pages('scan', (start) => send(new ScanCommand({ ...scan, ...start })));
      return;
    }
  }
}

async function* pages(
  from: DuePage['from'],
  list: (start: { ExclusiveStartKey?: Item }) => Promise<Listed>,
): AsyncGenerator<DuePage> {
  let next: Item | undefined;
  do {
    const page: Listed = await list(next === undefined ? {} : { ExclusiveStartKey: next });
    yield { ids: (page.Items ?? []).flatMap(({ id }) => id?.S ?? []), from };
    next = page.LastEvaluatedKey;
  } while (next !== undefined);
}

/** The oldest first. An index is never strongly consistent. */
export function dueRequest(tableName: string, shard: string, before: number): QueryCommandInput {
  return {
    TableName: tableName,
    IndexName: sweepIndex.name,
    KeyConditionExpression: '#sweep = :shard AND #dueAt <= :before',
    ExpressionAttributeNames: { '#sweep': attribute.sweep, '#dueAt': attribute.dueAt },
    ExpressionAttributeValues: { ':shard': toAttribute(shard), ':before': toAttribute(before) },
    Limit: 100,
  };
}

function scanRequest(tableName: string, before: number): ScanCommandInput {
  return {
    TableName: tableName,
    FilterExpression: 'attribute_exists(#sweep) AND #dueAt <= :before',
    ProjectionExpression: '#id',
    ExpressionAttributeNames: {
      '#id': attribute.id,
      '#sweep': attribute.sweep,
      '#dueAt': attribute.dueAt,
    },
    ExpressionAttributeValues: { ':before': toAttribute(before) },
  };
}

/** The only thing that tells this apart from other malformed requests is the message. */
function isWithoutIndex(error: unknown): boolean {
  const { name, message } = error as { name?: string; message?: string };
  return name === 'ValidationException' && /index/i.test(message ?? '');
}
