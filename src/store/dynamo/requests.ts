import type {
  AttributeValue,
  GetItemCommandInput,
  PutItemCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { expiryThreshold } from '../../domain/record.ts';
import { type Guard, guardOf, patchOf, type Transition, targetOf } from '../../domain/transition.ts';
import { attribute, prefix } from '../../names.ts';
import { attributesOf, toAttribute, toItem } from './item.ts';

/** The one request that a transition is. */
export type WriteRequest =
  | { readonly kind: 'put'; readonly input: PutItemCommandInput }
  | { readonly kind: 'update'; readonly input: UpdateItemCommandInput };

/** Builds the conditional write, and sends nothing. The conditions say what `permits` says. */
export function writeRequest(tableName: string, transition: Transition): WriteRequest {
  const expressions = new Expressions();
  if (transition.kind === 'claim') {
    const { record } = transition;
    const condition = absent(expressions, transition);
    return { kind: 'put', input: { Item: toItem(record), ...expressions.finish(tableName, condition) } };
  }
  const id = targetOf(transition);
  const condition = guarded(expressions, guardOf(transition));
  const input = {
    Key: { [attribute.id]: toAttribute(id) },
    UpdateExpression: changed(expressions, id, patchOf(transition)),
    ...expressions.finish(tableName, condition),
  };
  return { kind: 'update', input };
}

/** A strongly consistent read: a replica that lags reopens the window that the claim closed. */
export function readRequest(tableName: string, id: string): GetItemCommandInput {
  return { TableName: tableName, Key: { [attribute.id]: toAttribute(id) }, ConsistentRead: true };
}

/** No record, or one that counts as absent (`isExpired`) and whose fence is smaller. */
function absent(expressions: Expressions, { record, now }: Extract<Transition, { kind: 'claim' }>): string {
  const { name, value } = expressions;
  const expired = [
    `${name(attribute.expiresAt)} <= ${value(expiryThreshold(now))}`,
    `${name(attribute.fence)} < ${value(record.fence)}`,
    `${name(attribute.state)} <> ${value('in-doubt')}`,
    `(${name(attribute.state)} <> ${value('released')} OR attribute_not_exists(${name(attribute.dueAt)}))`,
  ];
  return `attribute_not_exists(${name(attribute.id)}) OR (${expired.join(' AND ')})`;
}

/** Owner, fence and state, which every write after the claim is conditioned on, and the texts that it replaces. */
function guarded(expressions: Expressions, { owner, fence, states, dueAt, effects, values }: Guard): string {
  const { name, value } = expressions;
  const is = (attributeName: string, wanted: string | number | undefined): string =>
    wanted === undefined
      ? `attribute_not_exists(${name(attributeName)})`
      : `${name(attributeName)} = ${value(wanted)}`;
  return [
    is(attribute.owner, owner),
    is(attribute.fence, fence),
    `${name(attribute.state)} IN (${states.map(value).join(', ')})`,
    ...(dueAt === undefined ? [] : [is(attribute.dueAt, dueAt.was)]),
    ...Object.entries(effects).map(([slot, text]) => is(prefix.effect + slot, text)),
    ...Object.entries(values).map(([key, text]) => is(prefix.value + key, text)),
  ].join(' AND ');
}

function changed(expressions: Expressions, id: string, { set, remove }: ReturnType<typeof patchOf>): string {
  const { name, value } = expressions;
  const { id: _id, ...written } = set;
  const assignments = [...attributesOf(written, id)].map(
    ([attributeName, content]) => `${name(attributeName)} = ${value(content)}`,
  );
  const removed = remove.flatMap((field) => {
    if (field === 'effects' || field === 'values') return [];
    return field === 'dueAt' ? [attribute.dueAt, attribute.sweep] : [attribute[field]];
  });
  const removal = removed.length === 0 ? '' : ` REMOVE ${removed.map(name).join(', ')}`;
  return `SET ${assignments.join(', ')}${removal}`;
}

/** Collects placeholders. Every name goes through one, because `state`, `owner` and others are reserved words. */
class Expressions {
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string | number, string>();

  readonly name = (attributeName: string): string => {
    const isWord = /^\w+$/.test(attributeName);
    const placeholder =
      this.#names.get(attributeName) ?? (isWord ? `#${attributeName}` : `#n${this.#names.size}`);
    this.#names.set(attributeName, placeholder);
    return placeholder;
  };

  readonly value = (content: string | number): string => {
    const placeholder = this.#values.get(content) ?? `:v${this.#values.size}`;
    this.#values.set(content, placeholder);
    return placeholder;
  };

  finish(tableName: string, condition: string): Omit<UpdateItemCommandInput, 'Key'> & { TableName: string } {
    const values = [...this.#values].map(([content, placeholder]): [string, AttributeValue] => [
      placeholder,
      toAttribute(content),
    ]);
    return {
      TableName: tableName,
      ConditionExpression: condition,
      ExpressionAttributeNames: Object.fromEntries(
        [...this.#names].map(([attributeName, placeholder]) => [placeholder, attributeName]),
      ),
      ExpressionAttributeValues: Object.fromEntries(values),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
  }
}
