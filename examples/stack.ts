import { Stack, type StackProps } from 'aws-cdk-lib';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { OnceAlarms, OnceSweeper, OnceTable } from 'lambda-once/cdk';

/** An orders function, its table, a sweeper every minute, and alarms that reach somebody. */
export class OrdersStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const table = new OnceTable(this, 'Once'); // kept when the stack goes: the retries are still coming
    const orders = new NodejsFunction(this, 'Orders', { entry: 'examples/http.ts' });
    table.connect(orders); // LAMBDA_ONCE_TABLE, and the permissions that the runtime needs
    const sweeper = new OnceSweeper(this, 'Sweeper', { table });
    const actions = [new SnsAction(new Topic(this, 'OnCall'))];
    new OnceAlarms(this, 'Alarms', { table, sweeper, actions });
  }
}
