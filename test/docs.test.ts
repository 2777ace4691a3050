import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { pages } from '../tools/quote-examples.ts';

const texts: ReadonlyMap<string, string> = new Map(
  [...pages, 'CHANGELOG.md', 'docs/model/README.md'].map((page) => [page, readFileSync(page, 'utf8')]),
);

/** Anchors as GitHub makes them of headings. */
function anchorsOf(path: string): readonly string[] {
  const text = texts.get(path) ?? readFileSync(path, 'utf8');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every link in a page leads somewhere, to the heading that it names', () => {
  const links = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(([, path = '', anchor]) => ({
      page,
      target: path === '' ? page : join(dirname(page), path),
      anchor,
    })),
  );
  expect(links.length).toBeGreaterThan(80);
  const dead = links.filter(
    ({ target, anchor }) =>
      !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor)),
  );
  expect(dead).toEqual([]);
});

test('every file that a page names is there', () => {
  const named = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/`((?:src|lib|test|tools|examples|docs)\/[\w./-]+\.\w+)`/g)].map(([, path = '']) => ({
      page,
      path,
    })),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ path }) => !existsSync(path))).toEqual([]);
});
