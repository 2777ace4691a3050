import type { IncomingHttpHeaders } from 'node:http';

/** The second argument of a handler. */
export interface LambdaContext {
  callbackWaitsForEmptyEventLoop: boolean;
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB: string;
  readonly logGroupName: string;
  readonly logStreamName: string;
  getRemainingTimeInMillis(): number;
}

/** The context of an invocation, from the headers it came with and the environment it runs in. */
export function contextOf(headers: IncomingHttpHeaders): LambdaContext {
  const deadline = Number(headers['lambda-runtime-deadline-ms']);
  const variable = (name: string): string => process.env[`AWS_LAMBDA_${name}`] ?? '';
  return {
    callbackWaitsForEmptyEventLoop: true,
    awsRequestId: String(headers['lambda-runtime-aws-request-id']),
    functionName: variable('FUNCTION_NAME'),
    functionVersion: variable('FUNCTION_VERSION'),
    invokedFunctionArn: String(headers['lambda-runtime-invoked-function-arn']),
    memoryLimitInMB: variable('FUNCTION_MEMORY_SIZE'),
    logGroupName: variable('LOG_GROUP_NAME'),
    logStreamName: variable('LOG_STREAM_NAME'),
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
}
