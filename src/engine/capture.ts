import { decodeOutcome } from '../domain/outcome.ts';
import { IdempotencyError } from '../errors.ts';
import { encodeResult } from './encode.ts';
import type { Journal } from './journal.ts';

/** What makes the values, by name. */
export type Makers<Values> = { readonly [name in keyof Values]: () => Values[name] | Promise<Values[name]> };

const isName = /^[\w./:-]{1,64}$/;

/**
 * Values that are generated once: what an earlier attempt captured, and for the rest what `makers` make now, all of it
 * written in one. Each comes back in its stored form, so that the first attempt sees what later ones will.
 *
 * @throws IdempotencyError `input-invalid`, `lease-lost`, `store`
 */
export async function capture<Values extends Record<string, unknown>>(
  id: string,
  journal: Journal,
  makers: Makers<Values>,
): Promise<Values> {
  const names = Object.keys(makers) as (keyof Values & string)[];
  const misnamed = names.find((name) => !isName.test(name));
  if (misnamed !== undefined)
    throw refusal(id, misnamed, 'is no name: 1 to 64 letters, digits and . _ - / :');
  const made = names
    .filter((name) => journal.value(name) === undefined)
    .map(async (name) => [name, encodeValue(id, name, await makers[name]())] as const);
  await journal.capture(Object.fromEntries(await Promise.all(made)));
  return Object.fromEntries(names.map((name) => [name, capturedValue(journal.value(name))])) as Values;
}

function encodeValue(id: string, name: string, value: unknown): string {
  const text = encodeResult({ kind: 'value', value });
  if (text !== undefined && decodeOutcome(text).kind === 'value') return text;
  throw refusal(id, name, 'cannot be kept: it does not survive storing, or is too large');
}

/** What was captured under a name; `undefined` where nothing was. */
export function capturedValue(text: string | undefined): unknown {
  const outcome = text === undefined ? undefined : decodeOutcome(text);
  return outcome?.kind === 'value' ? outcome.value : undefined;
}

function refusal(id: string, name: string, why: string): IdempotencyError {
  return new IdempotencyError('input-invalid', `capture: "${name.slice(0, 64)}" ${why}.`, { id });
}
