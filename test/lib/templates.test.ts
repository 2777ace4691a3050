import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { access } from '../../lib/access.ts';
import { attribute, environment, sweepIndex } from '../../src/names.ts';
import { templates } from '../../tools/templates/main.ts';

const generated = templates();
const committed = (name: string): string => readFileSync(`docs/templates/lambda-once.${name}`, 'utf8');

test.each(Object.keys(generated))(
  '%s is what the constructs make (`npm run templates` renews it)',
  (path) => {
    expect(generated[path]).toBe(readFileSync(path, 'utf8'));
  },
);

test.each(Object.entries(access))(
  'every template gives the role %s its actions, word for word',
  (role, { table }) => {
    const { Resources } = parse(committed('cfn.yaml'));
    const name = `${role[0]?.toUpperCase()}${role.slice(1)}Policy`;
    const [{ Action }] = Resources[name].Properties.PolicyDocument.Statement;
    expect([Action].flat()).toEqual(table);
    const inTerraform = committed('tf').split(`data "aws_iam_policy_document" "once_${role}"`)[1];
    expect(/actions\s+= (\[.*\])/.exec(inTerraform ?? '')?.[1]).toBe(`["${table.join('", "')}"]`);
  },
);

test('every template has the names that the runtime uses', () => {
  const { Resources } = parse(committed('sam.yaml'));
  const { KeySchema, GlobalSecondaryIndexes, TimeToLiveSpecification } = Resources.OnceTable.Properties;
  expect(KeySchema).toEqual([{ AttributeName: attribute.id, KeyType: 'HASH' }]);
  expect(GlobalSecondaryIndexes[0].IndexName).toBe(sweepIndex.name);
  expect(TimeToLiveSpecification).toEqual({ AttributeName: attribute.expiresAt, Enabled: true });
  const { Runtime, Environment } = Resources.OrdersFunction.Properties;
  expect([Runtime, Object.keys(Environment.Variables)]).toEqual(['nodejs24.x', [environment.table]]);
  const tf = committed('tf');
  expect(tf).toContain(`attribute_name = "${attribute.expiresAt}"`);
  expect(tf).toContain(`{ ${environment.table} = aws_dynamodb_table.once.name }`);
});
