import type { Store } from '../store/store.ts';
import type { AnyEffect } from './effect.ts';

/**
 * The effects that this process has defined, by name: a later attempt asks about what an earlier one began before its
 * handler runs, so before it has performed anything. Definitions, not state of a request. A name that was defined twice
 * says nothing: two modules may mean two providers by it, and asking the wrong one would be worse than asking late.
 */
const defined = new Map<string, AnyEffect | 'ambiguous'>();

/** What an operation has performed in this process is known exactly. */
const performed = new WeakMap<Store, Map<string, AnyEffect>>();

interface Performing {
  readonly store: Store;
  readonly name: string;
}

export function register(effect: AnyEffect): void {
  defined.set(effect.name, defined.has(effect.name) ? 'ambiguous' : effect);
}

export function registerPerformed({ store, name }: Performing, effect: AnyEffect): void {
  const effects = performed.get(store) ?? new Map<string, AnyEffect>();
  performed.set(store, effects.set(`${name}\n${effect.name}`, effect));
}

/** The effect that an entry in an operation's journal speaks of, as far as this process can tell. */
export function knownEffect({ store, name }: Performing, effectName: string): AnyEffect | undefined {
  const effect = performed.get(store)?.get(`${name}\n${effectName}`) ?? defined.get(effectName);
  return effect === 'ambiguous' ? undefined : effect;
}
