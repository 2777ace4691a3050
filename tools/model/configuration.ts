/** What the model promises, by the names of its assertions in `docs/model/promises.pml`. */
export type Promised =
  | 'at_most_one_effect'
  | 'at_most_one_business_write'
  | 'the_journal_never_goes_back'
  | 'an_outcome_is_final'
  | 'everybody_gets_the_same_answer'
  | 'success_means_it_happened'
  | 'declined_means_it_did_not_happen'
  | 'every_effect_gets_decided';

/** What a complete search has to find. */
export type Expected =
  | { readonly kind: 'holds'; readonly atLeastStates: number }
  | { readonly kind: 'breaks'; readonly promised: Promised };

/** One way to compile the model, and what is expected of it. */
export interface Configuration {
  readonly name: string;
  /** Of the design, where it is about one. */
  readonly rule?: number;
  /** Macros of the model, without `-D`. */
  readonly macros: readonly string[];
  readonly expected: Expected;
}

/** Every promise holds in every state. A search that saw hardly any states has proved nothing. */
export function holds(
  name: string,
  macros: string,
  { rule, atLeastStates = 10_000 }: Holding = {},
): Configuration {
  return {
    name,
    ...(rule && { rule }),
    macros: macros.split(' '),
    expected: { kind: 'holds', atLeastStates },
  };
}

interface Holding {
  readonly rule?: number;
  readonly atLeastStates?: number;
}

/** This very promise is broken first. */
export function breaks(name: string, macros: string, promised: Promised, rule?: number): Configuration {
  return { name, ...(rule && { rule }), macros: macros.split(' '), expected: { kind: 'breaks', promised } };
}
