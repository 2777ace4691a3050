import { writeFileSync } from 'node:fs';
import { cloudFormation, sam } from './cloudformation.ts';
import { synthesised } from './synthesised.ts';
import { terraform } from './terraform.ts';

/** The pages' templates by their paths, as they follow from the constructs today. */
export function templates(): Readonly<Record<string, string>> {
  const resources = synthesised();
  return {
    'docs/templates/lambda-once.cfn.yaml': cloudFormation(resources),
    'docs/templates/lambda-once.sam.yaml': sam(resources),
    'docs/templates/lambda-once.tf': terraform(resources),
  };
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(templates())) writeFileSync(path, text);
}
