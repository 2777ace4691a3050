import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages, quoteExamples } from '../tools/quote-examples.ts';

test('pages quote the examples as they are (`npm run quote` renews them)', () => {
  const quoting = pages.filter((page) => {
    const text = readFileSync(page, 'utf8');
    expect(text, page).toBe(quoteExamples(text));
    return text.includes('<!-- code: ');
  });
  expect(quoting).toEqual(expect.arrayContaining(['README.md', 'docs/deploying.md']));
});

test('README quotes an example of each kind', () => {
  const readme = readFileSync('README.md', 'utf8');
  expect(readme.match(/<!-- code: \S+ -->\n```ts\n/g)).toHaveLength(7);
});
