import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Code, type FunctionProps, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { afterAll } from 'vitest';
import { OnceOutbox, OnceQueueConsumer, OnceSweeper, OnceTable } from '../../lib/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'lambda-once-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** An app that writes where nobody else does, bundles nothing, and fails where a template is against CloudFormation's rules. */
export function freshApp(): App {
  return new App({
    outdir: mkdtempSync(join(directory, 'cdk.out-')),
    analyticsReporting: false,
    context: { 'aws:cdk:bundling-stacks': [], '@aws-cdk/core:validateAgainstDefaultRules': true },
  });
}

/** A stack in a known Region, which tables with replicas or keys of their own need. */
export function freshStack(app: App = freshApp(), id = 'Stack'): Stack {
  return new Stack(app, id, { env: { region: 'eu-central-1' } });
}

/** Somebody's function. */
export function lambda(scope: Construct, id = 'Handler', props: Partial<FunctionProps> = {}): LambdaFunction {
  return new LambdaFunction(scope, id, {
    code: Code.fromInline('exports.handler = () => {}'),
    handler: 'index.handler',
    runtime: Runtime.NODEJS_24_X,
    logGroup: new LogGroup(scope, `${id}Logs`),
    ...props,
  });
}

/** One of each of what can be watched, with two consumers; their ids end in what is given. */
export function everything(stack: Stack, suffix = '') {
  const table = new OnceTable(stack, `Once${suffix}`, { stream: true });
  const sweeper = new OnceSweeper(stack, `Sweeper${suffix}`, { table });
  const consumers = ['Ship', 'Mail'].map((name) => {
    const handler = lambda(stack, `${name}Handler${suffix}`);
    return new OnceQueueConsumer(stack, `${name}${suffix}`, { handler, table });
  });
  const to = new Topic(stack, `Events${suffix}`);
  const outbox = new OnceOutbox(stack, `Outbox${suffix}`, { table, to });
  return { table, sweeper, outbox, consumers };
}

export interface Resource {
  // biome-ignore lint/suspicious/noExplicitAny: a template is JSON of no known shape
  readonly Properties: Readonly<Record<string, any>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** The resources of a type, by their logical ids without digests. */
export function resources(stack: Stack, type: string): Readonly<Record<string, Resource>> {
  const found = Template.fromStack(stack).findResources(type) as Record<string, Resource>;
  return Object.fromEntries(Object.entries(found).map(([id, resource]) => [named(id), resource]));
}

/** The one resource of a type, or of those the one whose id begins like this. */
export function resource(stack: Stack, type: string, id = ''): Resource {
  const found = Object.entries(resources(stack, type)).filter(([each]) => each.startsWith(id));
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) throw new Error(`${found.length} ${type} begin with "${id}"`);
  return only[1];
}

export function properties(stack: Stack, type: string, id = ''): Resource['Properties'] {
  return resource(stack, type, id).Properties;
}

/** What a metric is of: namespace, name, statistic, and the names and values of its dimensions. */
export function seen(stack: Stack, { namespace, metricName, statistic, dimensions = {} }: Metric): string[] {
  const told = Object.entries(dimensions).flatMap(([name, value]) => [name, text(stack.resolve(value))]);
  return [namespace, metricName, statistic, ...told];
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

/** What the policies of roles whose ids begin like this allow: by resource, the actions in their order. */
export function allowed(stack: Stack, role: string): Readonly<Record<string, readonly string[]>> {
  const all: Record<string, string[]> = {};
  for (const { Properties } of Object.values(resources(stack, 'AWS::IAM::Policy'))) {
    if (!(Properties.Roles as unknown[]).some((each) => text(each).startsWith(role))) continue;
    for (const { Effect, Action, Resource, Condition } of Properties.PolicyDocument
      .Statement as Statement[]) {
      if (Effect !== 'Allow' || Condition !== undefined) throw new Error('more than a plain permission');
      for (const on of [Resource].flat().map(text)) all[on] = [...(all[on] ?? []), ...[Action].flat()].sort();
    }
  }
  return all;
}

/** A value of a template as one reads it: `OnceTable.Arn/index/sweep`. */
export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[kind, of] = []] = Object.entries(value as object);
  if (kind === 'Ref') return named(of);
  if (kind === 'Fn::GetAtt') return `${named(of[0])}.${of[1]}`;
  if (kind === 'Fn::Join') return (of[1] as unknown[]).map(text).join(of[0]);
  throw new Error(`no text for ${JSON.stringify(value)}`);
}

/** A logical id without its digest. */
function named(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '');
}

/** A request to the engine. */
export interface Call {
  /** `PutItem`. */
  readonly name: string;
  readonly input: object;
}

/** The requests of a client from now on. */
export function noted(client: DynamoDBClient): Call[] {
  const calls: Call[] = [];
  client.middlewareStack.add(
    (next, { commandName = '' }) => {
      return async (args) => {
        calls.push({ name: commandName.replace(/Command$/, ''), input: args.input });
        return next(args);
      };
    },
    { step: 'initialize' },
  );
  return calls;
}
