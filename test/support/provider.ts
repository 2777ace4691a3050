import type { ReconcileContext, Reconciled } from '../../src/index.ts';

export interface Order {
  readonly amount: number;
}

export interface Paid {
  readonly chargeId: string;
}

/** A question that a provider was asked. */
export interface Question extends ReconcileContext {
  readonly input: Order | undefined;
}

/** A payment provider without idempotency keys: every request that arrives is a charge. */
export class Provider {
  readonly charges: (Paid & { readonly token: string; readonly amount: number })[] = [];
  readonly questions: Question[] = [];
  /** What it says when it is asked. By default the truth. */
  says: ((question: Question) => unknown) | undefined;

  charge(token: string, amount: number): Paid {
    const chargeId = `ch-${this.charges.length + 1}`;
    this.charges.push({ chargeId, token, amount });
    return { chargeId };
  }

  ask(input: Order | undefined, context: ReconcileContext): Reconciled<Paid> {
    const question = { input, ...context };
    this.questions.push(question);
    const answer = this.says === undefined ? this.#truth(question) : this.says(question);
    return answer as Reconciled<Paid>;
  }

  #truth({ token }: Question): Reconciled<Paid> {
    const charge = this.charges.find((each) => each.token === token);
    return charge === undefined ? 'absent' : { found: { chargeId: charge.chargeId } };
  }
}
