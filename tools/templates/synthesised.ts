import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnResource, Stack } from 'aws-cdk-lib';
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';
import { type OnceRole, OnceSweeper, OnceTable } from '../../lib/index.ts';

/** Any JSON of a template. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** A resource of a template. */
export interface Resource {
  readonly Type: string;
  readonly Properties: JsonObject;
  readonly [attribute: string]: Json;
}

/** Where a project finds the prebuilt sweeper. */
export const sweeperCode = 'node_modules/lambda-once/dist/assets/sweeper';

const roles: Readonly<Record<OnceRole, string>> = {
  claim: 'ClaimPolicy',
  lookup: 'LookupPolicy',
  inspect: 'InspectPolicy',
  resolve: 'ResolvePolicy',
  sweep: 'SweepPolicy',
};

/** Table, policies, schedule and dead letters as the constructs make them, under names that a person would give. */
export function synthesised(): Readonly<Record<string, Resource>> {
  const outdir = mkdtempSync(join(tmpdir(), 'lambda-once-templates-'));
  try {
    const app = new App({ outdir, analyticsReporting: false });
    const stack = new Stack(app, 'Templates');
    const table = new OnceTable(stack, 'Once');
    grantEach(stack, table);
    const sweeper = new OnceSweeper(stack, 'Sweeper', { table });
    const { handler } = sweeper;
    name(table.table, 'OnceTable');
    name(handler, 'SweeperFunction');
    name(handler.node.findChild('EventInvokeConfig'), 'SweeperRetries');
    name(handler.node.findChild('ServiceRole'), 'SweeperRole');
    name(handler.node.findChild('ServiceRole').node.findChild('DefaultPolicy'), 'SweeperPolicy');
    name(sweeper.node.findChild('HandlerLogs'), 'SweeperLogs');
    name(sweeper.deadLetterQueue.node.findChild('Policy'), 'SweeperDeadLettersPolicy');
    name(sweeper.deadLetterQueue, 'SweeperDeadLetters');
    name(sweeper.schedule, 'SweeperSchedule');
    const scheduler = stack.node.children.find(({ node }) => node.id.startsWith('SchedulerRole'));
    if (scheduler === undefined) throw new Error('The schedule has no role.');
    name(scheduler, 'SchedulerRole');
    name(scheduler.node.findChild('DefaultPolicy'), 'SchedulerPolicy');
    const { Resources } = app.synth().getStackByName('Templates').template as {
      Resources: Record<string, Resource>;
    };
    return Resources;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

function grantEach(stack: Stack, table: OnceTable): void {
  const grants: Readonly<Record<OnceRole, (policy: ManagedPolicy) => unknown>> = {
    claim: (policy) => table.grantClaim(policy),
    lookup: (policy) => table.grantLookup(policy),
    inspect: (policy) => table.grantInspect(policy),
    resolve: (policy) => table.grantResolve(policy),
    sweep: (policy) => table.grantSweep(policy),
  };
  for (const [role, id] of Object.entries(roles) as [OnceRole, string][]) {
    const policy = new ManagedPolicy(stack, id, { description: `lambda-once: ${role}` });
    grants[role](policy);
    name(policy, id);
  }
}

function name({ node: { defaultChild } }: IConstruct, id: string): void {
  if (!(defaultChild instanceof CfnResource)) throw new Error(`${id} is no resource.`);
  defaultChild.overrideLogicalId(id);
}
