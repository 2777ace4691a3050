import { randomUUID } from 'node:crypto';
import { basename, dirname } from 'node:path';
import type { EnvironmentSettings } from './environment.ts';

/**
 * The environment variables of an environment: those that Lambda sets, then the function's own. Nothing else of ours
 * gets in, so that a handler cannot come to lean on this machine.
 */
export function variablesOf(settings: EnvironmentSettings, runtimeApi: string): Record<string, string> {
  const { file, handlerName, name, memory, environment } = settings;
  const today = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
  return {
    PATH: process.env.PATH ?? '',
    TZ: ':UTC',
    LANG: 'en_US.UTF-8',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${process.versions.node.split('.')[0]}.x`,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memory),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: `${today}/[$LATEST]${randomUUID().replaceAll('-', '')}`,
    LAMBDA_TASK_ROOT: dirname(file),
    _HANDLER: `${basename(file)}.${handlerName}`,
    ...environment,
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
  };
}
