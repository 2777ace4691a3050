import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localClientConfig } from '../../tools/local/engine.ts';
import { startLossyProxy } from '../../tools/local/lossy-proxy.ts';
import {
  type Answer,
  contextFor,
  type Library,
  order,
  type Protected,
  type Seat,
  type Work,
} from './libraries.ts';
import { inProcesses } from './processes.ts';

/** What a scenario showed of one library. */
export interface Shown {
  readonly executions: number;
  /** How the last delivery was answered. */
  readonly last: string;
}

/** One situation. */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly play: (library: Library, endpoint: string) => Promise<Shown>;
  /** What at-most-once asks for. */
  readonly must: Shown;
  /** Of the peer: what its repository says about it since. */
  readonly note?: string;
}

/** A handler under protection, and how often it ran. */
class Stage {
  runs = 0;
  readonly key: string = randomUUID();
  readonly #handler: Promise<Protected>;

  /** @param work told which run it is */
  constructor(library: Library, endpoint: string, seat: Seat, work: (run: number) => Promise<Answer>) {
    const client = new DynamoDBClient(localClientConfig(endpoint));
    const tableName = `claims-${randomUUID()}`;
    const counted: Work = () => {
      this.runs += 1;
      return work(this.runs);
    };
    this.#handler = library
      .createTable(client, tableName)
      .then(() => library.protect(counted, client, tableName, seat));
  }

  /** Delivers once and says how it was answered: a status and body, `nothing`, or `refused`. */
  async send(event = order(this.key), milliseconds = 10_000): Promise<string> {
    const handler = await this.#handler;
    try {
      return told(await handler(event, contextFor(milliseconds)));
    } catch {
      return 'refused';
    }
  }

  async shown(last: Promise<string>): Promise<Shown> {
    return { last: await last, executions: this.runs };
  }
}

function told(answer: unknown): string {
  if (answer === undefined || answer === null) return 'nothing';
  const { statusCode, body = '' } = answer as { statusCode: number; body?: string };
  return statusCode < 400 ? `${statusCode} ${body}` : String(statusCode);
}

const made = (run: number): Answer => ({ statusCode: 201, body: `run ${run}` });

/** Its own process is late by more than its lease of a second; another one takes over meanwhile, and ends first. */
async function late(library: Library, endpoint: string, end: (run: number) => Answer): Promise<Shown> {
  const stage = new Stage(library, endpoint, 'wrapper', async (run) => {
    if (run === 1) await sleep(2200);
    return run === 1 ? end(run) : made(run);
  });
  const first = stage.send(undefined, 1000);
  await sleep(1400);
  await stage.send(undefined, 1000);
  await first;
  return stage.shown(stage.send());
}

export const scenarios: readonly Scenario[] = [
  {
    id: 'a',
    title: 'a duplicate arrives while the first runs, then a third (three processes, Middy)',
    must: { executions: 1, last: '' },
    async play(library, endpoint) {
      const key = randomUUID();
      const shares = [0, 200, 350].map((at) => [{ key, at, takes: 600 }]);
      return { executions: await inProcesses(library, endpoint, shares), last: '' };
    },
  },
  {
    id: 'b',
    title: 'the handler returns a 500, then it is sent again',
    must: { executions: 2, last: '201 run 2' },
    async play(library, endpoint) {
      const stage = new Stage(library, endpoint, 'wrapper', async (run) =>
        run === 1 ? { statusCode: 500, body: 'down' } : made(run),
      );
      await stage.send();
      return stage.shown(stage.send());
    },
  },
  {
    id: 'c',
    title: 'the first outlives its lease and completes after the second has; sent again',
    must: { executions: 2, last: '201 run 2' },
    play: (library, endpoint) => late(library, endpoint, made),
  },
  {
    id: 'd',
    title: 'the same, but the first throws late',
    must: { executions: 2, last: '201 run 2' },
    play: (library, endpoint) =>
      late(library, endpoint, () => {
        throw new Error('late');
      }),
  },
  {
    id: 'e',
    title: 'a handler that returns nothing, sent twice (Middy)',
    must: { executions: 1, last: 'nothing' },
    async play(library, endpoint) {
      const stage = new Stage(library, endpoint, 'middy', async () => undefined);
      await stage.send();
      return stage.shown(stage.send());
    },
  },
  {
    id: 'f',
    title: 'one key with another payload, then the first payload again (Middy)',
    must: { executions: 1, last: '201 run 1' },
    async play(library, endpoint) {
      const stage = new Stage(library, endpoint, 'middy', async (run) => made(run));
      await stage.send();
      await stage.send(order(stage.key, '{"amount":30}'));
      return stage.shown(stage.send());
    },
  },
  {
    id: 'g',
    title: 'no key at all, sent twice',
    must: { executions: 0, last: '400' },
    async play(library, endpoint) {
      const stage = new Stage(library, endpoint, 'wrapper', async (run) => made(run));
      await stage.send(order(undefined));
      return stage.shown(stage.send(order(undefined)));
    },
  },
  {
    id: 'h',
    title: 'Middy’s early timeout while the handler goes on; sent again',
    must: { executions: 1, last: '409' },
    async play(library, endpoint) {
      const stage = new Stage(library, endpoint, 'middy', async (run) => {
        await sleep(run === 1 ? 500 : 0);
        return made(run);
      });
      await stage.send(undefined, 200);
      const shown = await stage.shown(stage.send());
      await sleep(500); // until the first has ended as well
      return shown;
    },
  },
  {
    id: 'j',
    title: 'the claim lands, its reply is lost, the SDK sends it again',
    must: { executions: 1, last: '201 run 1' },
    async play(library, endpoint) {
      const proxy = await startLossyProxy(endpoint);
      try {
        proxy.on('PutItem', 'drop-reply');
        const stage = new Stage(library, proxy.endpoint, 'wrapper', async (run) => made(run));
        return await stage.shown(stage.send());
      } finally {
        await proxy.stop();
      }
    },
  },
];

/** 100 keys, each sent 8 times within 400 ms to one of four processes; the work takes 300 to 600 ms. */
export const storm: Scenario = {
  id: 'storm',
  title: '100 keys × 8 duplicates over 400 ms, four processes (Middy)',
  must: { executions: 100, last: '' },
  async play(library, endpoint) {
    const keys = Array.from({ length: 100 }, () => randomUUID());
    const shares = [0, 1, 2, 3].map((share) =>
      keys.flatMap((key, index) =>
        [0, 1].map((second) => {
          const duplicate = 4 * second + share;
          return { key, at: (duplicate * 400) / 8 + (index % 50), takes: 300 + 3 * index };
        }),
      ),
    );
    return { executions: await inProcesses(library, endpoint, shares), last: '' };
  },
};
