import { randomUUID } from 'node:crypto';
import { toHttpEvent } from '../local/front-door.ts';
import type { InvokeResult } from '../local/runtime-api.ts';
import type { Handler, World } from './world.ts';

/** What a scene showed, beside what it had to show. */
export interface Shown {
  readonly title: string;
  readonly sent: number;
  readonly effects: number;
  /** How often each answer came: `201`, `201 replayed`, `409 busy`, `killed`; of a queue `done`, `failed to DLQ`. */
  readonly answers: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

/** One scene: plays and says what it showed. */
export type Scene = (world: World) => Promise<Shown>;

/** What a scene must show. An answer list counts exactly; a function judges where the order of things is open. */
export interface Must {
  readonly effects: number;
  readonly answers: Readonly<Record<string, number>> | ((answers: ReadonlyMap<string, number>) => boolean);
}

/** One request of the story. */
export interface Order {
  readonly key?: string;
  readonly tenant?: string;
  readonly headers?: Record<string, string>;
  /** Sent as it stands; default: the scene's account and an amount of 20. */
  readonly body?: string;
}

/** The stage: a fresh account and key for each scene, so that scenes can play side by side. */
export class Stage {
  readonly account: string = randomUUID();
  readonly key: string = randomUUID();
  readonly #world: World;
  readonly #handler: Handler;
  readonly #answers = new Map<string, number>();
  #sent = 0;

  constructor(world: World, handler: Handler) {
    this.#world = world;
    this.#handler = handler;
  }

  /** Sends an order and notes how it was answered. */
  async send(order: Order = {}, started?: (pid: number) => void): Promise<InvokeResult> {
    this.#sent += 1;
    const event = toHttpEvent({
      method: 'POST',
      path: '/orders',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': order.key ?? this.key,
        ...order.headers,
      },
      body: order.body ?? JSON.stringify({ account: this.account, amount: 20 }),
      ...(order.tenant !== undefined && { tenant: order.tenant }),
    });
    const result = await this.#world
      .function(this.#handler)
      .invoke(event, started === undefined ? {} : { started });
    const answer = answerOf(result);
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
    return result;
  }

  /** Resolves once the account was charged so often. */
  async charged(times: number): Promise<void> {
    for (let look = 0; look < 200; look += 1) {
      if ((await this.#world.chargesOf(this.account)) >= times) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('the charge did not come');
  }

  /** Compares what happened with what must have happened. */
  async close(title: string, must: Must): Promise<Shown> {
    const effects = await this.#world.chargesOf(this.account);
    return compare({ title, sent: this.#sent, effects, answers: this.#answers }, must);
  }
}

/** What was seen, with what is wrong about it. */
export function compare(seen: Omit<Shown, 'faults'>, must: Must): Shown {
  const faults: string[] = [];
  if (seen.effects !== must.effects) faults.push(`${seen.effects} effects, not ${must.effects}`);
  if (!isAnswered(seen.answers, must.answers)) faults.push(`answers are not ${describe(must.answers)}`);
  return { ...seen, faults };
}

function isAnswered(answers: Shown['answers'], must: Must['answers']): boolean {
  if (typeof must === 'function') return must(answers);
  const entries = Object.entries(must);
  return entries.length === answers.size && entries.every(([name, count]) => answers.get(name) === count);
}

function describe(must: Must['answers']): string {
  return typeof must === 'function' ? 'what they must be' : JSON.stringify(must);
}

/** How a delivery was answered, in one or two words. */
export function answerOf(result: InvokeResult): string {
  if (result.kind === 'exit') return 'killed';
  if (result.kind !== 'response') return result.kind;
  const {
    statusCode,
    headers = {},
    body = '',
  } = result.payload as {
    statusCode: number;
    headers?: Record<string, string>;
    body?: string;
  };
  if (headers['Idempotency-Replayed'] === 'true') return `${statusCode} replayed`;
  if (headers['Content-Type'] !== 'application/problem+json') return String(statusCode);
  return `${statusCode} ${(JSON.parse(body) as { code: string }).code}`;
}
