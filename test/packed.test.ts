import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run: typeof execFile.__promisify__ = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
let place: string;
let tarball: string;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'lambda-once-packed-'));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', place], { cwd: root });
  tarball = join(place, stdout.trim());
}, 60_000);

afterAll(() => rm(place, { recursive: true, force: true }));

const stack = `
const app = new App({ outdir: 'out' });
const stack = new Stack(app, 'Stack');
const table = new OnceTable(stack, 'Once', { stream: true });
const sweeper = new OnceSweeper(stack, 'Sweeper', { table });
const outbox = new OnceOutbox(stack, 'Outbox', { table, to: new Queue(stack, 'Queue') });
new OnceAlarms(stack, 'Alarms', { table, sweeper, outbox });
app.synth();
`;

const entries = ['.', './metrics', './outbox', './status', './sweeper', './testing'];

const apps = {
  'an ESM app': {
    file: 'app.mjs',
    text: `
import { App, Stack } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { OnceAlarms, OnceOutbox, OnceSweeper, OnceTable } from 'lambda-once/cdk';
${stack}
for (const entry of ${JSON.stringify(entries)}) await import('lambda-once' + entry.slice(1));
`,
  },
  'a CommonJS app': {
    file: 'app.cjs',
    text: `
const { App, Stack } = require('aws-cdk-lib');
const { Queue } = require('aws-cdk-lib/aws-sqs');
const { OnceAlarms, OnceOutbox, OnceSweeper, OnceTable } = require('lambda-once/cdk');
${stack}
for (const entry of ${JSON.stringify(entries)}) require('lambda-once' + entry.slice(1));
`,
  },
};

/** Installs the tarball where there is nothing else but its peers, and synthesises with a PATH that holds Node and no more. */
async function synthesise(name: keyof typeof apps): Promise<{ template: string; assets: string[] }> {
  const { file, text } = apps[name];
  const directory = join(place, 'deep'.repeat(file.length), file);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{ "private": true }');
  const install = ['install', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund', '--silent'];
  await run('npm', [...install, tarball], { cwd: directory });
  await mkdir(join(directory, 'node_modules/@aws-sdk'), { recursive: true });
  const peers = ['aws-cdk-lib', 'constructs', '@aws-sdk/client-dynamodb', '@aws-sdk/util-dynamodb'];
  for (const peer of peers) {
    await symlink(join(root, 'node_modules', peer), join(directory, 'node_modules', peer));
  }
  await writeFile(join(directory, file), text);
  const environment = { PATH: join(place, 'no-programs'), HOME: place };
  await run(process.execPath, [file], { cwd: directory, env: environment });
  const out = join(directory, 'out');
  const template = await readFile(join(out, 'Stack.template.json'), 'utf8');
  const assets = (await readdir(out)).filter((entry) => entry.startsWith('asset.')).sort();
  for (const asset of assets) expect(existsSync(join(out, asset, 'index.mjs'))).toBe(true);
  return { template, assets };
}

test('C01: packed and installed into an ESM and a CommonJS app, it synthesises the same without any tool or network', async () => {
  const [esm, cjs] = await Promise.all([synthesise('an ESM app'), synthesise('a CommonJS app')]);
  expect(esm.assets).toHaveLength(2);
  expect(cjs).toEqual(esm);
}, 60_000);

test('what is packed is what a user needs: no sources, no tests, the prebuilt functions', async () => {
  const { stdout } = await run('tar', ['-tzf', tarball], { cwd: dirname(tarball) });
  const files = stdout.trim().split('\n');
  const folders = new Set(files.map((file) => file.split('/')[1]));
  expect(folders).toEqual(new Set(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'docs', 'package.json']));
  expect(files).toEqual(
    expect.arrayContaining(['sweeper', 'outbox'].map((name) => `package/dist/assets/${name}/index.mjs`)),
  );
});
