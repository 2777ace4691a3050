import middy7 from '@middy/core';
import type {
  ALBEvent,
  ALBHandler,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyEventV2WithLambdaAuthorizer,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  Context,
} from 'aws-lambda';
import middy6 from 'middy6-core';
import { expect, expectTypeOf, test } from 'vitest';
import { type Claim, type HttpAnswer, idempotent, idempotentHttp } from '../../src/index.ts';
import { memoryStore } from '../../src/testing.ts';

// P10: the compiler is the test (`npm run types`); at run time these only have to build.

const base = () => ({ store: memoryStore(), operation: 'place' });
const http = () => ({ ...base(), scope: 'none' as const });

test('P10: idempotentHttp is a handler for every front end, alone and under Middy 6 and 7', () => {
  const v1 = idempotentHttp(async (event: APIGatewayProxyEvent, _context: Context, claim) => {
    expectTypeOf(claim).toEqualTypeOf<Claim>();
    return { statusCode: 201, body: event.body ?? '' };
  }, http());
  const v2 = idempotentHttp(async (event: APIGatewayProxyEventV2, _context: Context) => {
    return { statusCode: 201, body: event.body ?? '', cookies: ['a=1'] };
  }, http());
  const alb = idempotentHttp(async (event: ALBEvent, _context: Context) => {
    return { statusCode: 201, body: event.body ?? '' };
  }, http());
  v1 satisfies APIGatewayProxyHandler;
  v2 satisfies APIGatewayProxyHandlerV2;
  alb satisfies ALBHandler;
  middy7(v1) satisfies APIGatewayProxyHandler;
  middy7(v2) satisfies APIGatewayProxyHandlerV2;
  middy7(alb) satisfies ALBHandler;
  middy6(v1) satisfies APIGatewayProxyHandler;
  middy6(v2) satisfies APIGatewayProxyHandlerV2;
  middy6(alb) satisfies ALBHandler;
  middy7<APIGatewayProxyEvent>().handler(v1);
  middy6<APIGatewayProxyEventV2>().handler(v2);
  expectTypeOf(v1).parameter(0).toEqualTypeOf<APIGatewayProxyEvent>();
  expectTypeOf(v1).returns.resolves.toEqualTypeOf<{ statusCode: number; body: string } | HttpAnswer>();
});

test('P10: scope, key, fingerprint and classify are typed from the handler', () => {
  type Event = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;
  idempotentHttp(async (_event: Event, _context: Context) => ({ statusCode: 201, total: 7 }), {
    ...base(),
    scope: (event, context) => {
      expectTypeOf(event).toEqualTypeOf<Event>();
      expectTypeOf(context).toEqualTypeOf<Context>();
      return event.requestContext.authorizer.lambda.tenant;
    },
    key: (event) => {
      expectTypeOf(event).toEqualTypeOf<Event>();
      return event.headers['x-key'];
    },
    fingerprint: (event) => {
      expectTypeOf(event).toEqualTypeOf<Event>();
      return event.body;
    },
    classify: (result) => {
      expectTypeOf(result.total).toBeNumber();
      return 'complete';
    },
  });
  const handler = async (): Promise<{ statusCode: number }> => ({ statusCode: 201 });
  const without = base();
  const wrong = { ...base(), scope: () => 7 };
  // @ts-expect-error the scope is required for HTTP
  expect(() => idempotentHttp(handler, without)).toThrow('"scope" is required');
  // @ts-expect-error a scope is a text
  idempotentHttp(handler, wrong);
});

test('P10: idempotent keeps the input and the awaited result', () => {
  interface Order {
    readonly id: string;
  }
  const send = idempotent(async (order: Order, claim) => ({ sent: order.id, fence: claim.fence }), {
    ...base(),
    key: (order) => {
      expectTypeOf(order).toEqualTypeOf<Order>();
      return order.id;
    },
    scope: (order) => order.id,
    fingerprint: (order) => order.id,
    classify: (result) => {
      expectTypeOf(result).toEqualTypeOf<{ sent: string; fence: number }>();
      return 'complete';
    },
  });
  expectTypeOf(send).parameter(0).toEqualTypeOf<Order>();
  expectTypeOf(send).returns.toEqualTypeOf<Promise<{ sent: string; fence: number }>>();
  const synchronous = idempotent((text: string) => text.length, { ...base(), key: (text) => text });
  expectTypeOf(synchronous).returns.toEqualTypeOf<Promise<number>>();
  const nothing = idempotent(async (_text: string) => {}, { ...base(), key: (text) => text });
  expectTypeOf(nothing).returns.toEqualTypeOf<Promise<void>>();
  const either = idempotent((text: string): number | Promise<number> => text.length, {
    ...base(),
    key: String,
  });
  expectTypeOf(either).returns.toEqualTypeOf<Promise<number>>();
  const echo = async (text: string): Promise<string> => text;
  const without = base();
  const wrong = { ...base(), key: (text: string) => text.length };
  // @ts-expect-error the key is required
  expect(() => idempotent(echo, without)).toThrow('"key" is required');
  // @ts-expect-error a key is a text
  idempotent(echo, wrong);
});
