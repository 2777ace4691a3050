import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { ShopStack } from './shop-stack.ts';

/** What `npx cdk deploy` deploys: the shop, checked against two packs of rules. */
const app = new App();
new ShopStack(app, 'OnceShop', { mathAlarms: app.node.tryGetContext('mathAlarms') !== 'false' });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
