import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { quoteExamples } from '../tools/quote-examples.ts';

test('README quotes the examples as they are (`npm run quote` renews them)', () => {
  const readme = readFileSync('README.md', 'utf8');
  expect(readme.match(/<!-- code: \S+ -->/g)).toHaveLength(6);
  expect(readme).toBe(quoteExamples(readme));
});
