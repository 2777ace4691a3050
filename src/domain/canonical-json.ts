import { canonicalNumber, spell } from './canonical-number.ts';

/** Deeper than this no request is; a hostile one must not overflow the stack. */
export const maximumDepth = 500;

/** A JSON document as the fingerprint sees it: parsed, with numbers in their canonical spelling. */
export type Json =
  | null
  | boolean
  | string
  | NumberLiteral
  | readonly Json[]
  | { readonly [name: string]: Json };

/** A number by its canonical spelling, because a double would make different integers equal. */
export class NumberLiteral {
  readonly spelling: string;
  constructor(spelling: string) {
    this.spelling = spelling;
  }
}

/** The document, or `undefined` when the text is not JSON (then its bytes are its meaning). */
export function parseJson(text: string): Json | undefined {
  try {
    const document = JSON.parse(text, (_name, value: unknown, source?: { source?: string }) =>
      typeof value === 'number' ? new NumberLiteral(canonicalNumber(source?.source ?? spell(value))) : value,
    ) as Json;
    return depthOf(document) > maximumDepth ? undefined : document;
  } catch {
    return undefined;
  }
}

/** RFC 8785: names sorted by UTF-16 code units, arrays in their order, no white space, ECMAScript strings. */
export function serialize(document: Json): string {
  if (document instanceof NumberLiteral) return document.spelling;
  if (document === null || typeof document !== 'object') return JSON.stringify(document);
  if (isArray(document)) return `[${document.map(serialize).join(',')}]`;
  const members = Object.keys(document)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${serialize(document[name] as Json)}`);
  return `{${members.join(',')}}`;
}

/** `Array.isArray` does not narrow readonly arrays. */
export function isArray(document: Json): document is readonly Json[] {
  return Array.isArray(document);
}

/** Level by level and not recursive, since it guards the recursion of the others. */
function depthOf(document: Json): number {
  let level: Json[] = [document];
  let depth = 0;
  while (level.length > 0 && depth <= maximumDepth) {
    depth += 1;
    level = level.flatMap((value) => children(value));
  }
  return depth;
}

function children(value: Json): Json[] {
  if (value === null || typeof value !== 'object' || value instanceof NumberLiteral) return [];
  return isArray(value) ? [...value] : Object.values(value);
}
