import { createHash } from 'node:crypto';
import { type Json, parseJson } from '../../domain/canonical-json.ts';
import { toJson } from '../../domain/canonical-value.ts';
import { type BodySelection, fingerprintOf, select } from '../../domain/fingerprint.ts';
import type { HttpRequest } from './event.ts';

/**
 * What makes two HTTP requests the same: method, path, query (names sorted, repeated values in their order) and the
 * body, JSON by its meaning and everything else by its bytes. No header takes part, so neither do trace ids.
 */
export function fingerprintHttp(request: HttpRequest, selection: BodySelection): string {
  return fingerprintOf([request.method, request.path, sortedQuery(request), bodyMeaning(request, selection)]);
}

function sortedQuery({ query }: HttpRequest): Json {
  const names = [...new Set(query.map(([name]) => name))].sort();
  return names.map((name) => [name, query.filter(([given]) => given === name).map(([, value]) => value)]);
}

/** A kind in front, so that no body of one kind equals a body of another. */
function bodyMeaning({ body, isBase64Encoded }: HttpRequest, selection: BodySelection): Json {
  if (body === undefined || body === null || body === '') return ['empty'];
  // a parser that sits outside has been here
  if (typeof body !== 'string') return ['json', select(toJson(body, 'event.body'), selection)];
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  const text = isBase64Encoded ? decodeText(bytes) : body;
  const document = text === undefined ? undefined : parseJson(text);
  if (document !== undefined) return ['json', select(document, selection)];
  // a lone surrogate has no bytes: replaced, it would make different bodies equal
  if (text?.isWellFormed() === false) return ['text', text];
  return ['bytes', createHash('sha256').update(bytes).digest('base64url')];
}

/** The text, if the bytes are text at all; with its byte order mark, as the same text has that was not encoded. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
