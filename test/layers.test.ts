import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** Lowest first. A file imports from its own layer and from those below. */
const layers = ['names', 'errors', 'domain', 'store', 'engine', 'adapters', 'middleware', 'lambda'];

/** What assembles the layers: nothing of `src` imports these. `lib` does the same for the constructs. */
const entries = ['index', 'metrics', 'outbox', 'status', 'sweeper', 'testing'];

interface Source {
  readonly path: string;
  readonly text: string;
  /** What it imports or exports from, type imports and dynamic ones included. */
  readonly imports: readonly string[];
}

function sourcesIn(directory: string): Source[] {
  return readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[cm]?tsx?$/.test(name))
    .map((name) => join(directory, name))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, imports: importsIn(text) };
    });
}

function importsIn(text: string): string[] {
  const statements = /^(?:import|export)\s(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
  const calls = /\b(?:import|require)\(\s*['"`]([^'"`]+)['"`]/g;
  return [...text.matchAll(statements), ...text.matchAll(calls)].map(([, specifier = '']) => specifier);
}

/** The path in the repository that a relative import means; a package's name otherwise. */
function targetOf({ path }: Source, specifier: string): string {
  return specifier.startsWith('.') ? relative(root, resolve(root, dirname(path), specifier)) : specifier;
}

/** `src/domain/key.ts` is of the layer `domain`, `src/errors.ts` of `errors`. */
function layerOf(path: string): string {
  return (path.split('/')[1] ?? '').replace(/\.ts$/, '');
}

/** Without comments, which may name what the code must not do. */
function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');
}

const src = sourcesIn('src');
const lib = sourcesIn('lib');

test('the parser sees every form of import', () => {
  const text = `import 'a';
import b from "b";
import {
  type C,
} from 'c';
import type { D } from 'd';
export * from 'e';
export { type F, f } from 'f';
const g = await import('g');
const h = require('h');
export const from = 'none';
`;
  expect(importsIn(text).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
});

describe('src', () => {
  test('was read: more than 20 files, of known layers, that import one another', () => {
    expect(src.length).toBeGreaterThan(20);
    expect(src.flatMap(({ imports }) => imports).length).toBeGreaterThan(100);
    const known = [...layers, ...entries];
    expect(
      [...new Set(src.map(({ path }) => layerOf(path)))].filter((layer) => !known.includes(layer)),
    ).toEqual([]);
  });

  test('imports point down only', () => {
    const upward = src
      .filter(({ path }) => layers.includes(layerOf(path)))
      .flatMap((source) =>
        source.imports
          .filter((specifier) => specifier.startsWith('.'))
          .map((specifier) => targetOf(source, specifier))
          .filter((target) => {
            const rank = target.startsWith('src/') ? layers.indexOf(layerOf(target)) : -1;
            return rank === -1 || rank > layers.indexOf(layerOf(source.path));
          })
          .map((target) => `${source.path} -> ${target}`),
      );
    expect(upward).toEqual([]);
  });

  test('names and errors import nothing', () => {
    const lowest = src.filter(({ path }) => ['names', 'errors'].includes(layerOf(path)));
    expect(lowest.map(({ path, imports }) => [path, imports])).toEqual(
      expect.arrayContaining([
        ['src/names.ts', []],
        ['src/errors.ts', []],
      ]),
    );
    expect(lowest).toHaveLength(2);
  });

  test('every relative import names a file that was read', () => {
    const paths = new Set(src.map(({ path }) => path));
    const targets = src.flatMap((source) =>
      source.imports
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => targetOf(source, specifier)),
    );
    expect(targets.filter((target) => !paths.has(target))).toEqual([]);
  });

  test('nothing is deleted: a release is an update', () => {
    const deleting = src.filter(({ text }) => /DeleteItem|DeleteCommand|DeleteRequest|BatchWrite/.test(text));
    expect(deleting.map(({ path }) => path)).toEqual([]);
  });
});

describe('src/domain', () => {
  const domain = src.filter(({ path }) => layerOf(path) === 'domain');

  test('has no clock, no randomness, no timer, no environment', () => {
    expect(domain.length).toBeGreaterThanOrEqual(10);
    const impure =
      /Date\.now|new Date\(\s*\)|\bDate\(\s*\)|performance\b|Math\.random|randomUUID|randomBytes|getRandomValues|setTimeout|setInterval|process\./;
    expect(domain.filter(({ text }) => impure.test(code(text))).map(({ path }) => path)).toEqual([]);
  });

  test('imports nothing from outside but hashing', () => {
    const outside = domain.flatMap(({ imports }) =>
      imports.filter((specifier) => !specifier.startsWith('.')),
    );
    expect([...new Set(outside)]).toEqual(['node:crypto']);
    const hashing = domain.filter(({ imports }) => imports.includes('node:crypto'));
    for (const { text } of hashing) expect(text).toContain("import { createHash } from 'node:crypto';");
  });
});

test('lib imports nothing of src but its names', () => {
  expect(lib.length).toBeGreaterThan(10);
  const ofSource = lib.flatMap((source) =>
    source.imports
      .map((specifier) => targetOf(source, specifier))
      .filter((target) => target.startsWith('src/')),
  );
  expect(ofSource.filter((target) => target !== 'src/names.ts')).toEqual([]);
  const ofPackage = lib.flatMap(({ imports }) =>
    imports.filter((specifier) => specifier.startsWith('lambda-once')),
  );
  expect(ofPackage).toEqual([]);
});
