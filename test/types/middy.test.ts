import middy7 from '@middy/core';
import type {
  ALBEvent,
  ALBResult,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyEventV2WithLambdaAuthorizer,
  APIGatewayProxyResult,
  APIGatewayProxyStructuredResultV2,
  Context,
} from 'aws-lambda';
import middy6 from 'middy6-core';
import { expect, expectTypeOf, test } from 'vitest';
import { claimOf, type HttpEvent, idempotency, type LambdaContext } from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';

// P10: the compiler is the test (`npm run types`); at run time these only have to build.

type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;
type Result = APIGatewayProxyStructuredResultV2;

const base = () => ({ store: memoryStore(), operation: 'place' });
const tenantOf = (event: Event): string => event.requestContext.authorizer.lambda.tenant;

test('P10: use() keeps the event, the result and the context of the chain, Middy 7', () => {
  middy7<Event, Result, Error, Context>()
    .use(idempotency({ ...base(), scope: tenantOf }))
    .handler(async (event, context) => {
      expectTypeOf(event).toEqualTypeOf<Event>();
      expectTypeOf(context).toExtend<Context>();
      expectTypeOf(context).not.toBeAny();
      expectTypeOf(claimOf(context).fence).toBeNumber();
      return { statusCode: 201 };
    });
  middy7<Event, Result, Error, Context>()
    .use(idempotency({ ...base(), scope: tenantOf }))
    // @ts-expect-error the result type of the chain is not widened
    .handler(async () => ({ statusCode: 'created' }));
});

test('P10: use() keeps the event, the result and the context of the chain, Middy 6', () => {
  middy6<Event, Result, Error, Context>()
    .use(idempotency({ ...base(), scope: tenantOf }))
    .handler(async (event, context) => {
      expectTypeOf(event).toEqualTypeOf<Event>();
      expectTypeOf(context).toExtend<Context>();
      expectTypeOf(context).not.toBeAny();
      return { statusCode: 201 };
    });
  middy6<Event, Result, Error, Context>()
    .use(idempotency({ ...base(), scope: tenantOf }))
    // @ts-expect-error the result type of the chain is not widened
    .handler(async () => ({ statusCode: 'created' }));
});

test('P10: without an event of one’s own the chain’s event survives as well', () => {
  middy7<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(idempotency({ ...base(), scope: 'none' }))
    .handler(async (event) => {
      expectTypeOf(event).toExtend<APIGatewayProxyEvent>();
      expectTypeOf(event.body).toEqualTypeOf<string | null>();
      expectTypeOf(event.requestContext.identity.sourceIp).toBeString();
      return { statusCode: 201, body: '' };
    });
  middy6<APIGatewayProxyEventV2, Result>()
    .use(idempotency({ ...base(), scope: 'none' }))
    .handler(async (event) => {
      expectTypeOf(event).toExtend<APIGatewayProxyEventV2>();
      expectTypeOf(event.rawPath).toBeString();
      return { statusCode: 201 };
    });
  middy7<ALBEvent, ALBResult>()
    .use(idempotency({ ...base(), scope: 'none' }))
    .handler(async (event) => {
      expectTypeOf(event).toExtend<ALBEvent>();
      expectTypeOf(event.requestContext.elb.targetGroupArn).toBeString();
      return { statusCode: 201 };
    });
});

test('P10: the selectors are typed from the annotated event, and by default from HttpEvent', () => {
  idempotency<Event, Context>({
    ...base(),
    scope: (event, context) => `${event.requestContext.authorizer.lambda.tenant}/${context.awsRequestId}`,
    key: (event) => event.headers['x-key'],
    fingerprint: (event) => event.body,
  });
  const standalone = idempotency({
    ...base(),
    scope: (event, context) => {
      expectTypeOf(event).toEqualTypeOf<HttpEvent>();
      expectTypeOf(context).toEqualTypeOf<LambdaContext>();
      return 'a';
    },
  });
  expectTypeOf<Parameters<(typeof standalone)['before']>[0]>().not.toBeAny();
  middy7<Event, Result>().use(
    idempotency({
      ...base(),
      scope: (event) => {
        expectTypeOf(event).not.toBeAny();
        return 'a';
      },
    }),
  );
  const [without, bare] = [base(), { ...base(), scope: 'none' as const, retention: 3600 }];
  // @ts-expect-error the scope is required
  expect(() => idempotency(without)).toThrow('"scope" is required');
  // @ts-expect-error a bare number is no duration
  expect(() => idempotency(bare)).toThrow('duration');
  const none = { ...base(), scope: 'none' as const };
  // @ts-expect-error a typo is refused by the compiler as well
  expect(() => idempotency({ ...none, retenion: { hours: 1 } })).toThrow('unknown option "retenion"');
});
