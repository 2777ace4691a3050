import type { AnyEffect } from './effect.ts';

/**
 * The effects that this process has defined, by name: a later attempt asks about what an earlier one began before its
 * handler runs, so before it has performed anything. Definitions, not state of a request. A name that was defined twice
 * says nothing: two modules may mean two providers by it, and asking the wrong one would be worse than asking late.
 */
const defined = new Map<string, AnyEffect | 'ambiguous'>();

/** What an operation has performed in this process is known exactly. */
const performed = new Map<string, AnyEffect>();

export function register(effect: AnyEffect): void {
  defined.set(effect.name, defined.has(effect.name) ? 'ambiguous' : effect);
}

export function registerPerformed(operation: string, effect: AnyEffect): void {
  performed.set(`${operation}\n${effect.name}`, effect);
}

/** The effect that an entry in an operation's journal speaks of, as far as this process can tell. */
export function knownEffect(operation: string, name: string): AnyEffect | undefined {
  const effect = performed.get(`${operation}\n${name}`) ?? defined.get(name);
  return effect === 'ambiguous' ? undefined : effect;
}
