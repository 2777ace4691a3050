import { IdempotencyError } from '../errors.ts';
import { type Json, maximumDepth, NumberLiteral } from './canonical-json.ts';
import { spell } from './canonical-number.ts';

const tag = '\0';

/**
 * A JavaScript value as the fingerprint sees it. What JSON would flatten (a Map becomes `{}`, NaN becomes `null`, two
 * class instances with private state look the same) is refused with its path, before anything is claimed. Dates,
 * bigints and bytes get a form of their own that no other value has.
 *
 * @throws IdempotencyError `input-invalid`, naming the path, never the value.
 */
export function toJson(value: unknown, path = 'input'): Json {
  return convert(value, path, new Set());
}

function convert(value: unknown, path: string, ancestors: Set<object>): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw refused(path, String(value));
      return new NumberLiteral(spell(value));
    case 'bigint':
      return tagged('bigint', String(value));
    case 'object':
      return value === null ? null : convertObject(value, path, ancestors);
    default:
      throw refused(path, typeof value);
  }
}

function convertObject(value: object, path: string, ancestors: Set<object>): Json {
  if (ancestors.has(value)) throw refused(path, 'a cycle');
  if (ancestors.size >= maximumDepth) throw refused(path, `nested deeper than ${maximumDepth} levels`);
  ancestors.add(value);
  const json = convertMembers(value, path, ancestors);
  ancestors.delete(value);
  return json;
}

function convertMembers(value: object, path: string, ancestors: Set<object>): Json {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw refused(path, 'an invalid Date');
    return tagged('date', value.toISOString());
  }
  if (ArrayBuffer.isView(value)) {
    // the same bytes mean something else in a Uint16Array
    const kind = value instanceof Uint8Array ? 'bytes' : nameOf(value);
    return tagged(kind, Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'));
  }
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, index) => convert(item, `${path}[${index}]`, ancestors));
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return convert(value.toJSON(), `${path}.toJSON()`, ancestors);
  }
  if (!isPlain(value)) throw refused(path, `an instance of ${nameOf(value)}`);
  if (Object.getOwnPropertySymbols(value).some((symbol) => Object.propertyIsEnumerable.call(value, symbol))) {
    throw refused(path, 'an object with a member named by a symbol');
  }
  // fromEntries defines `__proto__` as a member like any other; an assignment would lose it
  const members = Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, convert(member, `${path}.${name}`, ancestors)]),
  );
  return looksTagged(members) ? tagged('object', members) : members;
}

/** An object whose only member is named by a NUL character. What comes in that form is tagged itself. */
function tagged(kind: string, content: Json): Json {
  return { [tag]: [kind, content] };
}

function looksTagged(members: object): boolean {
  return Object.hasOwn(members, tag) && Object.keys(members).length === 1;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // a plain object of another realm has a prototype without a prototype
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? name : 'an unnamed class';
}

function refused(path: string, what: string): IdempotencyError {
  return new IdempotencyError(
    'input-invalid',
    `${path} is ${what}, which has no faithful digest. Pass plain data, or choose what identifies the request with the option "fingerprint".`,
  );
}
