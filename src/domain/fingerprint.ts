import { createHash } from 'node:crypto';
import { isArray, type Json, NumberLiteral, serialize } from './canonical-json.ts';

/** Part of every digest; raised whenever the same request would be digested differently. */
const version = 1;

/** The digest of what a request means: version, `:`, SHA-256 as base64url. */
export function fingerprintOf(meaning: Json): string {
  return `${version}:${createHash('sha256').update(serialize(meaning)).digest('base64url')}`;
}

/** Which members of a JSON body take part: dotted paths, array positions by number (`items.0.sku`). */
export interface BodySelection {
  /** Explicit allow-list. Without it, the whole body. */
  readonly body?: readonly string[] | undefined;
  /** Members whose text is compared in lower case; they take part as well. */
  readonly lowercase?: readonly string[] | undefined;
}

/** The selected members by path. A member that is absent is left out, which differs from one that is `null`. */
export function select(document: Json, { body, lowercase = [] }: BodySelection): Json {
  const folded = lowercase.reduce((whole, path) => foldAt(whole, path.split('.')), document);
  if (body === undefined) return folded;
  const paths = [...new Set([...body, ...lowercase])];
  const chosen = paths.map((path) => [path, memberAt(folded, path.split('.'))] as const);
  return Object.fromEntries(chosen.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** The member at a path, if there is one. */
export function memberAt(document: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, name) => memberOf(value, name), document);
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (value === undefined || !isContainer(value)) return undefined;
  if (isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function foldAt(document: Json, path: readonly string[]): Json {
  const [name, ...rest] = path;
  if (name === undefined) return typeof document === 'string' ? document.toLowerCase() : document;
  const member = memberOf(document, name);
  if (member === undefined) return document;
  const folded = foldAt(member, rest);
  if (isArray(document)) return document.with(Number(name), folded);
  return { ...(document as { readonly [name: string]: Json }), [name]: folded };
}

function isContainer(value: Json): value is readonly Json[] | { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !(value instanceof NumberLiteral);
}
