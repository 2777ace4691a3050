import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App, Stack } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, test } from 'vitest';
import {
  OnceAlarms,
  OnceDashboard,
  OnceOutbox,
  OnceQueueConsumer,
  OnceSweeper,
  OnceTable,
} from '../../lib/index.ts';
import { allowed, everything, freshApp, freshStack, lambda, resources } from './support.ts';

/** All constructs there are, so often in one stack. */
function filled(times = 1): { app: App; stack: Stack } {
  const app = freshApp();
  const stack = freshStack(app);
  for (let index = 0; index < times; index += 1) {
    const watched = everything(stack, `${index}`);
    new OnceAlarms(stack, `Alarms${index}`, { ...watched, expectedItems: 1000 });
    const logGroups = [new LogGroup(stack, `Logs${index}`)];
    new OnceDashboard(stack, `Dashboard${index}`, { ...watched, logGroups });
  }
  return { app, stack };
}

/** What a synth wrote, by file: templates and the hashes of assets among it. */
function written(app: App): Record<string, unknown> {
  const { directory } = app.synth();
  const names = readdirSync(directory).filter((name) => /\.(template|assets)\.json$/.test(name));
  return Object.fromEntries(
    names.map((name) => [name, JSON.parse(readFileSync(join(directory, name), 'utf8'))]),
  );
}

test('two of everything fit into one stack, and CloudFormation has no objection', () => {
  const { stack } = filled(2);
  expect(Object.keys(resources(stack, 'AWS::DynamoDB::GlobalTable'))).toEqual(['Once0Table', 'Once1Table']);
  for (const type of ['DynamoDB::GlobalTable', 'CloudWatch::Dashboard', 'Scheduler::Schedule'])
    for (const { Properties } of Object.values(resources(stack, `AWS::${type}`)))
      expect(Object.keys(Properties).filter((name) => /^(Table|Dashboard)?Name$/.test(name))).toEqual([]);
});

test('control: CloudFormation objects to a template that it does not understand', () => {
  const app = freshApp();
  new CfnQueue(freshStack(app), 'Queue', { redrivePolicy: { maxReceiveCount: 'often' } });
  expect(() => app.synth()).toThrow('maxReceiveCount');
});

test('C01: a synth gives the same each time, wherever it writes', () => {
  const [first, second] = [written(filled().app), written(filled().app)];
  expect(first).toEqual(second);
  expect(JSON.stringify(first)).toMatch(/[0-9a-f]{64}\.zip/);
});

test('C04: no policy has a wildcard for an action or for everything, and nothing is deleted from a table', () => {
  const statements = Object.entries(allowed(filled().stack, ''));
  expect(statements.length).toBeGreaterThan(10);
  const actions = statements.flatMap(([, each]) => each);
  expect(actions.filter((action) => /\*|dynamodb:(Delete|Batch)/.test(action))).toEqual([]);
  expect(statements.filter(([on]) => on === '*')).toEqual([]);
});

describe('a stack each', () => {
  /** Stacks by name, each made when it is asked for. */
  function stacks() {
    const app = freshApp();
    const made = new Map<string, Stack>();
    const stack = (name: string): Stack => {
      const found = made.get(name) ?? freshStack(app, name);
      made.set(name, found);
      return found;
    };
    const dependencies = (name: string) =>
      stack(name)
        .dependencies.map(({ node }) => node.id)
        .sort();
    return { app, stack, dependencies };
  }

  test('for table, functions, sweeper, outbox, consumer and alarms: none needs one that needs it', () => {
    const { app, stack, dependencies } = stacks();
    const encryptionKey = new Key(stack('Data'), 'Key');
    const table = new OnceTable(stack('Data'), 'Once', { stream: true, encryptionKey });
    table.connect(lambda(stack('Api'), 'Pay')).connect(lambda(stack('Api'), 'Status'), 'lookup');
    const sweeper = new OnceSweeper(stack('Sweeps'), 'Sweeper', { table });
    const consumers = [
      new OnceQueueConsumer(stack('Queues'), 'Ship', { table, handler: lambda(stack('Api'), 'Ship') }),
    ];
    const outbox = new OnceOutbox(stack('Relays'), 'Outbox', {
      table,
      to: new Queue(stack('Queues'), 'Events'),
    });
    const watched = { table, sweeper, outbox, consumers };
    new OnceAlarms(stack('Watch'), 'Alarms', watched);
    new OnceDashboard(stack('Watch'), 'Dashboard', watched);
    app.synth();
    expect(dependencies('Data')).toEqual([]);
    expect(dependencies('Api')).toEqual(['Data', 'Queues']);
    expect(dependencies('Sweeps')).toEqual(['Data']);
    expect(dependencies('Relays')).toEqual(['Data', 'Queues']);
    expect(dependencies('Queues')).toEqual([]);
  });

  test('for a sweeper and its own function', () => {
    const { app, stack, dependencies } = stacks();
    const table = new OnceTable(stack('Data'), 'Once');
    new OnceSweeper(stack('Sweeps'), 'Sweeper', { table, handler: lambda(stack('Api')) });
    app.synth();
    expect(dependencies('Api')).toEqual(['Data']);
  });

  test('for an outbox and its own relay', () => {
    const { app, stack, dependencies } = stacks();
    const table = new OnceTable(stack('Data'), 'Once', { stream: true });
    new OnceOutbox(stack('Relays'), 'Outbox', { table, relay: lambda(stack('Api')) });
    app.synth();
    expect(dependencies('Api')).toEqual(['Data']);
  });
});
