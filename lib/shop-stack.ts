import { join } from 'node:path';
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { HttpApi, HttpMethod, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Architecture, type Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { OnceAlarms } from './once-alarms.ts';
import { OnceDashboard } from './once-dashboard.ts';
import { OnceOutbox } from './once-outbox.ts';
import { OnceQueueConsumer } from './once-queue-consumer.ts';
import { OnceSweeper } from './once-sweeper.ts';
import { OnceTable } from './once-table.ts';
import { acknowledgeRules } from './shop-rules.ts';

/** Options of {@link ShopStack}. */
export interface ShopStackProps extends StackProps {
  /** Default `true`. Emulators do not know metric math. */
  readonly mathAlarms?: boolean;
}

/**
 * A shop that takes payments and ships parcels, each once: an HTTP API whose authorizer says whose keys they are, a payment with an
 * effect outside and a transaction inside, an outbox to a queue, its consumer, a status route, a sweeper that asks the card processor,
 * alarms and a dashboard. The handlers are in examples/shop.
 */
export class ShopStack extends Stack {
  readonly functions: LambdaFunction[] = [];

  constructor(scope: Construct, id: string, { mathAlarms = true, ...props }: ShopStackProps = {}) {
    super(scope, id, props);
    const once = new OnceTable(this, 'Once', { stream: true });
    const tokens = this.#table('Tokens', 'id');
    const charges = this.#table('Charges', 'reference', 'chargeId');
    const payments = this.#table('Payments', 'id');
    const parcels = this.#table('Parcels', 'id');

    const authorize = this.#function('Authorize', 'authorize', { TOKENS_TABLE: tokens.tableName });
    tokens.grant(authorize, 'dynamodb:GetItem');

    const pay = this.#function('Pay', 'pay', {
      CHARGES_TABLE: charges.tableName,
      PAYMENTS_TABLE: payments.tableName,
    });
    once.connect(pay);
    charges.grant(pay, 'dynamodb:PutItem', 'dynamodb:Query');
    payments.grant(pay, 'dynamodb:PutItem');

    const status = this.#function('Status', 'status');
    once.connect(status, 'lookup');
    this.#api(authorize, pay, status);

    const ship = this.#function('Ship', 'ship', { PARCELS_TABLE: parcels.tableName });
    parcels.grant(ship, 'dynamodb:PutItem');
    const shipping = new OnceQueueConsumer(this, 'Shipping', {
      handler: ship,
      table: once,
      maxReceiveCount: 3,
      visibilityTimeout: Duration.minutes(1),
      retention: Duration.days(18),
    });
    const outbox = new OnceOutbox(this, 'Outbox', { table: once, to: shipping.queue });

    const sweep = this.#function('Sweep', 'sweep', { CHARGES_TABLE: charges.tableName });
    charges.grant(sweep, 'dynamodb:Query');
    // a new account has ten concurrent executions and lets none of them be reserved
    const sweeper = new OnceSweeper(this, 'Sweeper', {
      table: once,
      handler: sweep,
      reserveConcurrency: false,
    });

    const watched = { table: once, sweeper, outbox, consumers: [shipping] };
    new OnceAlarms(this, 'Alarms', { ...watched, mathAlarms });
    const logGroups = this.functions.map(({ logGroup }) => logGroup);
    new OnceDashboard(this, 'Dashboard', { ...watched, logGroups });

    const outputs = { tokens, charges, payments, parcels, once: once.table };
    for (const [name, { tableName }] of Object.entries(outputs)) this.#output(`${name}Table`, tableName);
    this.#output('shippingQueue', shipping.queue.queueUrl);
    this.#output('shippingDeadLetters', shipping.deadLetterQueue.queueUrl);
    this.#output('shipFunction', ship.functionName);
    this.#output('payLogs', pay.logGroup.logGroupName);
    this.#output('sweepLogs', sweep.logGroup.logGroupName);

    const deadLetters = [shipping, outbox, sweeper].map(({ deadLetterQueue }) => deadLetterQueue);
    acknowledgeRules({ functions: [...this.functions, outbox.relay], deadLetters, once, sweep, ship });
  }

  #api(authorize: LambdaFunction, pay: LambdaFunction, status: LambdaFunction): void {
    const api = new HttpApi(this, 'Api', { createDefaultStage: false });
    const authorizer = new HttpLambdaAuthorizer('Authorizer', authorize, {
      responseTypes: [HttpLambdaResponseType.SIMPLE],
      resultsCacheTtl: Duration.minutes(1),
    });
    for (const [method, fn] of [
      [HttpMethod.POST, pay],
      [HttpMethod.GET, status],
    ] as const) {
      const integration = new HttpLambdaIntegration(`${method}Payments`, fn);
      api.addRoutes({ path: '/payments', methods: [method], integration, authorizer });
    }
    const stage = new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: 100, burstLimit: 200 },
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.#logs('ApiLogs')),
        format: AccessLogFormat.jsonWithStandardFields(),
      },
    });
    this.#output('apiId', api.apiId);
    this.#output('url', `${stage.url}payments`);
  }

  #function(id: string, file: string, environment: Record<string, string> = {}): LambdaFunction {
    const fn = new NodejsFunction(this, id, {
      entry: join(import.meta.dirname, `../examples/shop/${file}.ts`),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.seconds(10),
      logGroup: this.#logs(`${id}Logs`),
      environment,
      // the SDK goes along, so that what was tested is what runs
      bundling: { minify: true, bundleAwsSDK: true, tsconfig: join(import.meta.dirname, '../tsconfig.json') },
    });
    this.functions.push(fn);
    return fn;
  }

  #table(id: string, partitionKey: string, sortKey?: string): TableV2 {
    return new TableV2(this, id, {
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey !== undefined && { sortKey: { name: sortKey, type: AttributeType.STRING } }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    });
  }

  #logs(id: string): LogGroup {
    return new LogGroup(this, id, {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  #output(name: string, value: string): void {
    new CfnOutput(this, name, { value });
  }
}
