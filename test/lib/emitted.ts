import { AsyncLocalStorage } from 'node:async_hooks';
import { vi } from 'vitest';
import { type FunctionOptions, idempotent, type Store } from '../../src/index.ts';
import { emfMetrics } from '../../src/metrics.ts';
import { sweepHandler } from '../../src/sweeper.ts';
import { memoryStore } from '../../src/testing.ts';
import { Clock } from '../support/clock.ts';

/** A line of the log, in the embedded metric format. */
export interface Line {
  readonly type?: string;
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string }[];
    }[];
  };
  readonly [field: string]: unknown;
}

interface Payment {
  readonly id: string;
  readonly amount: number;
}
/** Runs work in a call chain of its own, as another invocation is. */
const elsewhere = AsyncLocalStorage.snapshot();

type Options = Partial<FunctionOptions<Payment, unknown>>;

/**
 * The lines of functions that are connected to a table: first run, replay, busy and mismatched duplicates, a lost lease, a lapsed claim
 * that is held, an outcome that cannot be stored, and a pass of the sweeper.
 */
export async function emittedLines(): Promise<Line[]> {
  vi.stubEnv('LAMBDA_ONCE_TABLE', 'once-prod');
  const lines: Line[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => {
    lines.push(JSON.parse(line) as Line);
  });
  const clock = new Clock();
  const store = memoryStore({ now: clock.now });
  /** Each on a host of its own. */
  const pay = (id: string, work: () => unknown = () => 'paid', options: Options = {}, amount = 1) => {
    const once = idempotent(async (_payment: Payment) => work(), {
      store: { ...store },
      operation: 'pay',
      scope: () => 'acme',
      key: (payment) => payment.id,
      lease: { seconds: 10 },
      onLapse: 'rerun',
      observe: emfMetrics(),
      ...options,
    });
    return once({ id, amount }).catch(() => {});
  };
  await pay('a', () => elsewhere(pay, 'a'));
  await pay('a');
  await pay('a', undefined, {}, 2);
  await pay('b', () => {
    clock.advance(14_000);
    return elsewhere(pay, 'b');
  });
  const crash = (): never => {
    throw new DOMException('gone', 'TimeoutError');
  };
  await pay('c', crash, { onLapse: 'hold' });
  clock.advance(14_000);
  await pay('c', undefined, { onLapse: 'hold' });
  await pay('d', undefined, { store: refusing(store) });
  await sweepHandler({ store: { ...store, size: async () => ({ items: 4, bytes: 400 }) } })();
  log.mockRestore();
  vi.unstubAllEnvs();
  return lines;
}

/** A store that takes claims and not how they end. */
function refusing(store: Store): Store {
  return {
    ...store,
    write: async (transition, limits) => {
      if (transition.kind === 'complete') throw new Error('the table is gone');
      return store.write(transition, limits);
    },
  };
}

/** The metrics that lines make: by namespace and name, the sets of names of their dimensions. */
export function metricsOf(lines: readonly Line[]): ReadonlyMap<string, readonly (readonly string[])[]> {
  const directives = lines.flatMap(({ _aws }) => _aws.CloudWatchMetrics);
  return new Map(
    directives.flatMap(({ Namespace, Dimensions, Metrics }) =>
      Metrics.map(({ Name }) => [`${Namespace} ${Name}`, Dimensions] as const),
    ),
  );
}
