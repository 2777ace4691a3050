import { globSync, readFileSync, writeFileSync } from 'node:fs';

const quoted = /<!-- code: (\S+) -->\n(?:```ts\n[\s\S]*?```\n)?<!-- \/code -->/g;

/** The pages that quote examples. */
export const pages: readonly string[] = ['README.md', ...globSync('docs/*.md')];

/** The text with every marked block replaced by the file it names. */
export function quoteExamples(text: string): string {
  return text.replace(
    quoted,
    (_block, path: string) =>
      `<!-- code: ${path} -->\n\`\`\`ts\n${readFileSync(path, 'utf8')}\`\`\`\n<!-- /code -->`,
  );
}

if (import.meta.main) {
  for (const page of pages) writeFileSync(page, quoteExamples(readFileSync(page, 'utf8')));
}
