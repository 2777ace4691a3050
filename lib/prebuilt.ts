import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  Runtime,
  RuntimeFamily,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/** By name, since the constant is younger than the oldest `aws-cdk-lib` that the constructs work with. */
const runtime: Runtime = new Runtime('nodejs24.x', RuntimeFamily.NODEJS);

/** What a prebuilt function may differ in. */
export interface Prebuilt {
  readonly description: string;
  readonly timeout: Duration;
  readonly logRetention: RetentionDays;
  readonly reservedConcurrentExecutions?: number;
}

/**
 * A function out of this package: bundled when the package was, SDK included, so that a synth needs neither esbuild nor Docker nor
 * network, and its hash is the same on every machine.
 */
export function prebuiltFunction(
  scope: Construct,
  id: string,
  name: string,
  props: Prebuilt,
): LambdaFunction {
  const { logRetention: retention, ...rest } = props;
  const logGroup = new LogGroup(scope, `${id}Logs`, { retention, removalPolicy: RemovalPolicy.DESTROY });
  return new LambdaFunction(scope, id, {
    code: Code.fromAsset(assetDirectory(name)),
    handler: 'index.handler',
    runtime,
    architecture: Architecture.ARM_64,
    memorySize: 256,
    logGroup,
    ...rest,
  });
}

/** Beside the built package; from a checkout, where `npm run build` puts it. */
function assetDirectory(name: string): string {
  const candidates = ['assets', '../dist/assets'].map((path) => join(import.meta.dirname, path, name));
  const found = candidates.find((path) => existsSync(join(path, 'index.mjs')));
  if (found === undefined)
    throw new Error(`lambda-once: the prebuilt ${name} is missing; run \`npm run build\`.`);
  return found;
}
