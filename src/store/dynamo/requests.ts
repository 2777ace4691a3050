import type {
  AttributeValue,
  GetItemCommandInput,
  PutItemCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { expiryThreshold, type OnceRecord } from '../../domain/record.ts';
import type { Transition } from '../../domain/transition.ts';
import { attribute } from '../../names.ts';
import { toAttribute, toItem } from './item.ts';

/** The one request that a transition is. */
export type WriteRequest =
  | { readonly kind: 'put'; readonly input: PutItemCommandInput }
  | { readonly kind: 'update'; readonly input: UpdateItemCommandInput };

type Field = keyof typeof attribute;

/** Builds the conditional write, and sends nothing. The conditions say what `permits` says. */
export function writeRequest(tableName: string, transition: Transition): WriteRequest {
  const expressions = new Expressions();
  switch (transition.kind) {
    case 'claim': {
      const { record, now } = transition;
      const expired = [
        `${expressions.name('expiresAt')} <= ${expressions.value('threshold', expiryThreshold(now))}`,
        `${expressions.name('state')} <> ${expressions.value('inDoubt', 'in-doubt')}`,
        `${expressions.name('fence')} < ${expressions.value('fence', record.fence)}`,
      ];
      const condition = `attribute_not_exists(${expressions.name('id')}) OR (${expired.join(' AND ')})`;
      return { kind: 'put', input: { Item: toItem(record), ...expressions.finish(tableName, condition) } };
    }
    case 'take-over': {
      const { id, ...written } = transition.record;
      const condition = heldBy(expressions, transition.seen, transition.seen.state);
      return update(expressions, tableName, id, condition, written, [
        'endedAt',
        'outcome',
        'resolvedBy',
        'resolvedWhy',
      ]);
    }
    case 'complete': {
      const { held, outcome, endedAt, expiresAt } = transition;
      const condition = heldBy(expressions, held, 'claimed', 'in-doubt');
      return update(expressions, tableName, held.id, condition, {
        state: 'completed',
        outcome,
        endedAt,
        expiresAt,
      });
    }
    case 'release': {
      const { held, endedAt, expiresAt, forget } = transition;
      const condition = heldBy(expressions, held, 'claimed');
      const removed: Field[] = forget ? ['fingerprint'] : [];
      return update(
        expressions,
        tableName,
        held.id,
        condition,
        { state: 'released', endedAt, expiresAt },
        removed,
      );
    }
    case 'doubt': {
      const { seen, expiresAt } = transition;
      const condition = heldBy(expressions, seen, seen.state);
      return update(expressions, tableName, seen.id, condition, { state: 'in-doubt', expiresAt });
    }
    case 'resolve': {
      const { kind: _kind, seen, to, ...written } = transition;
      const condition = heldBy(expressions, seen, seen.state);
      return update(expressions, tableName, seen.id, condition, { ...written, state: to });
    }
    default:
      return transition satisfies never;
  }
}

/** A strongly consistent read: a replica that lags reopens the window that the claim closed. */
export function readRequest(tableName: string, id: string): GetItemCommandInput {
  return { TableName: tableName, Key: { [attribute.id]: toAttribute(id) }, ConsistentRead: true };
}

function update(
  expressions: Expressions,
  tableName: string,
  id: string,
  condition: string,
  written: Partial<OnceRecord>,
  removed: readonly Field[] = [],
): WriteRequest {
  const set = Object.entries(written)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${expressions.name(field as Field)} = ${expressions.value(field, value)}`);
  const remove =
    removed.length === 0 ? '' : ` REMOVE ${removed.map((field) => expressions.name(field)).join(', ')}`;
  const input = {
    Key: { [attribute.id]: toAttribute(id) },
    UpdateExpression: `SET ${set.join(', ')}${remove}`,
    ...expressions.finish(tableName, condition),
  };
  return { kind: 'update', input };
}

/** Owner, fence and state: what every write after the claim is conditioned on. */
function heldBy(
  expressions: Expressions,
  holder: { readonly owner: string; readonly fence: number },
  ...states: string[]
): string {
  const allowed = states.map((state, index) => expressions.value(`was${index}`, state));
  return [
    `${expressions.name('owner')} = ${expressions.value('heldOwner', holder.owner)}`,
    `${expressions.name('fence')} = ${expressions.value('heldFence', holder.fence)}`,
    `${expressions.name('state')} IN (${allowed.join(', ')})`,
  ].join(' AND ');
}

/** Collects placeholders. Every name goes through one, because `state`, `owner` and others are reserved words. */
class Expressions {
  readonly #names: Record<string, string> = {};
  readonly #values: Record<string, AttributeValue> = {};

  name(field: Field): string {
    this.#names[`#${field}`] = attribute[field];
    return `#${field}`;
  }

  value(name: string, value: string | number): string {
    this.#values[`:${name}`] = toAttribute(value);
    return `:${name}`;
  }

  finish(tableName: string, condition: string): Omit<UpdateItemCommandInput, 'Key'> & { TableName: string } {
    return {
      TableName: tableName,
      ConditionExpression: condition,
      ExpressionAttributeNames: this.#names,
      ExpressionAttributeValues: this.#values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
  }
}
