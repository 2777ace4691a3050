import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';

/** What somebody wants charged. */
export interface ChargeOrder {
  /** A whole number of the currency's smallest unit, cents for one. */
  readonly amount: number;
  /** Three letters of ISO 4217: `EUR`. */
  readonly currency: string;
  readonly orderId?: string;
  /** `'declined'` plays a card that is refused; any other text is a good card. */
  readonly card?: string;
}

/** Money that moved. */
export interface Charge {
  readonly chargeId: string;
  readonly amount: number;
  readonly currency: string;
  readonly orderId?: string;
  /** The `Idempotency-Key` that it came with. Without one, nobody can ask about the charge. */
  readonly reference?: string;
}

/**
 * What a provider makes of keys. `'merged'`: a key is charged once, and its repetitions get the first charge. `'ignored'`:
 * every request charges, and a key is only noted as the charge's reference.
 */
export type Keys = 'merged' | 'ignored';

/** What became of a request to charge. Only `made` moved money. */
export type Applied =
  | { readonly kind: 'made' | 'merged'; readonly charge: Charge }
  | { readonly kind: 'reused' | 'declined' };

/** The books at one moment. */
export interface LedgerView {
  /** Well-formed requests to charge that came in, the refused, the repeated and those not applied yet included. */
  readonly arrived: number;
  /** The charges made, oldest first. */
  readonly charges: readonly Charge[];
}

/** What to wait for: at least so many, of one reference if it is given. */
export interface Awaited {
  readonly arrived?: number;
  readonly charges?: number;
  readonly reference?: string;
}

/** Far more than a drill asks for. Nothing is forgotten, so the memory has to end somewhere. */
const arrivalLimit = 10_000;

/** Who was charged what. In memory: it is gone with its process. */
export class Ledger {
  readonly #rules: { readonly keys: Keys; readonly amountLimit: number };
  readonly #arrivals: (string | undefined)[] = [];
  readonly #charges: Charge[] = [];
  readonly #byKey = new Map<string, { readonly order: string; readonly charge: Charge }>();
  readonly #news = new EventEmitter().setMaxListeners(0);

  constructor(rules: { readonly keys: Keys; readonly amountLimit: number }) {
    this.#rules = rules;
  }

  /** Notes that a request came in. `false` when the books are full: then it must be turned away. */
  arrive(reference: string | undefined): boolean {
    if (this.#arrivals.length >= arrivalLimit) return false;
    this.#arrivals.push(reference);
    this.#news.emit('entry');
    return true;
  }

  /** Moves the money, or says why not. Synchronous, so two requests of one key cannot both find it unused. */
  apply({ card, ...wanted }: ChargeOrder, reference: string | undefined): Applied {
    const order = JSON.stringify([wanted.amount, wanted.currency, wanted.orderId, card]);
    const earlier = reference === undefined ? undefined : this.#byKey.get(reference);
    if (earlier !== undefined)
      return earlier.order === order ? { kind: 'merged', charge: earlier.charge } : { kind: 'reused' };
    // a refusal is not remembered: the same key may be tried again
    if (card === 'declined' || wanted.amount > this.#rules.amountLimit) return { kind: 'declined' };
    const charge = { chargeId: randomUUID(), ...wanted, ...(reference !== undefined && { reference }) };
    this.#charges.push(charge);
    if (reference !== undefined && this.#rules.keys === 'merged')
      this.#byKey.set(reference, { order, charge });
    this.#news.emit('entry');
    return { kind: 'made', charge };
  }

  /** A copy; of one reference, or of everything. */
  view(reference?: string): LedgerView {
    const all = reference === undefined;
    return {
      arrived: this.#arrivals.filter((other) => all || other === reference).length,
      charges: this.#charges.filter((charge) => all || charge.reference === reference),
    };
  }

  /**
   * Resolves with the view that has what is awaited. Rejects after so many milliseconds, and with the reason of `stopped`.
   */
  async until(awaited: Awaited, wait: number, stopped: AbortSignal): Promise<LedgerView> {
    const { arrived = 0, charges = 0, reference } = awaited;
    const tooLong = AbortSignal.timeout(wait);
    const signal = AbortSignal.any([tooLong, stopped]);
    for (;;) {
      const view = this.view(reference);
      if (view.arrived >= arrived && view.charges.length >= charges) return view;
      await once(this.#news, 'entry', { signal }).catch((cause: unknown) => {
        stopped.throwIfAborted();
        const seen = `${view.arrived} arrived, ${view.charges.length} charged`;
        throw new Error(`${JSON.stringify(awaited)} did not come within ${wait} ms: ${seen}`, { cause });
      });
    }
  }
}
