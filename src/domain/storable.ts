/** JSON has no way to say these; a member of this name marks what stands for them. */
const mark = '$once';

type Marked =
  | { [mark]: 'date'; text: string }
  | { [mark]: 'undefined' | '-0' }
  | { [mark]: 'object'; value: unknown };

/** A result as text that restores to the same result, or why it does not. */
export type Storable =
  /** `form` is what the text says. */
  | { readonly kind: 'text'; readonly text: string; readonly form: unknown }
  | { readonly kind: 'unfaithful'; readonly detail: string };

/**
 * Results follow JSON, as Lambda itself sends them: members that are `undefined` vanish, `toJSON` is honoured, a class
 * instance keeps its data and loses its methods. Beyond JSON, dates, -0 and `undefined` in an array come back as
 * they were. What JSON would falsify (NaN, a Map, a stream, a function, a cycle) is not stored at all.
 */
export function storable(value: unknown): Storable {
  const faults: string[] = [];
  const copied = copy(value, 'result', new Set(), faults);
  const [fault] = faults;
  return fault === undefined
    ? { kind: 'text', text: JSON.stringify(copied), form: copied }
    : { kind: 'unfaithful', detail: fault };
}

/** The result that was stored, in fresh objects. */
export function restoreStorable(text: string): unknown {
  return restore(JSON.parse(text));
}

function copy(value: unknown, path: string, ancestors: Set<object>, faults: string[]): unknown {
  const fault = (what: string): undefined => void faults.push(`${path} is ${what}`);
  if (faults.length > 0) return undefined;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'undefined':
      return { [mark]: 'undefined' };
    case 'number':
      if (!Number.isFinite(value)) return fault(String(value));
      return Object.is(value, -0) ? { [mark]: '-0' } : value;
    case 'object':
      break;
    default:
      return fault(typeof value);
  }
  if (value === null) return null;
  if (value instanceof Date) {
    return Number.isNaN(value.getTime())
      ? fault('an invalid Date')
      : { [mark]: 'date', text: value.toISOString() };
  }
  if (isBoxed(value)) return copy(value.valueOf(), path, ancestors, faults);
  if (isOpaque(value)) return fault(`an instance of ${value.constructor?.name ?? 'a class'}`);
  if (ancestors.has(value)) return fault('a cycle');
  if (ancestors.size >= 1000) return fault('nested deeper than 1000 levels');
  ancestors.add(value);
  const copied = copyMembers(value, path, ancestors, faults);
  ancestors.delete(value);
  return copied;
}

function copyMembers(value: object, path: string, ancestors: Set<object>, faults: string[]): unknown {
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, index) => copy(item, `${path}[${index}]`, ancestors, faults));
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return copy(value.toJSON(), `${path}.toJSON()`, ancestors, faults);
  }
  const members = Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, copy(member, `${path}.${name}`, ancestors, faults)]),
  );
  return Object.hasOwn(members, mark) ? { [mark]: 'object', value: members } : members;
}

function isBoxed(value: object): boolean {
  return value instanceof Number || value instanceof String || value instanceof Boolean;
}

/** Objects whose contents JSON does not see. A stream is recognised without being touched. */
function isOpaque(value: object): boolean {
  if (value instanceof Error || value instanceof RegExp || ArrayBuffer.isView(value)) return true;
  // Map, Set, Promise, ArrayBuffer, Headers, Blob and their like name themselves, in every realm
  if (Symbol.toStringTag in value && !hasMethod(value, 'toJSON')) return true;
  const isStream = hasMethod(value, 'pipe') || hasMethod(value, 'getReader');
  return isStream || Symbol.asyncIterator in value || isFetchBody(value);
}

function hasMethod(value: object, name: string): boolean {
  return typeof (value as Record<string, unknown>)[name] === 'function';
}

/** A fetch Response or Request: its `body` is a getter of the class, not data of its own. */
function isFetchBody(value: object): boolean {
  return 'bodyUsed' in value && !Object.hasOwn(value, 'bodyUsed');
}

/** Recursion that mirrors `copy`. Members are defined, not assigned, so `__proto__` stays a name like any other. */
function restore(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(restore);
  if (Object.hasOwn(value, mark)) return restoreMarked(value as Marked);
  return restoreMembers(value);
}

function restoreMarked(marked: Marked): unknown {
  switch (marked[mark]) {
    case 'date':
      return new Date(marked.text);
    case 'undefined':
      return undefined;
    case '-0':
      return -0;
    case 'object':
      return restoreMembers(marked.value as object);
    default:
      return marked satisfies never;
  }
}

function restoreMembers(members: object): object {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, restore(member)]));
}
