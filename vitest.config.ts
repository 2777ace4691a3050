import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(`src/${path}`, import.meta.url));

const config: ViteUserConfig = defineConfig({
  resolve: {
    // the order matters: an alias also matches as a prefix
    alias: [
      { find: 'lambda-once/cdk', replacement: fileURLToPath(new URL('lib/index.ts', import.meta.url)) },
      { find: 'lambda-once/metrics', replacement: source('metrics.ts') },
      { find: 'lambda-once/outbox', replacement: source('outbox.ts') },
      { find: 'lambda-once/status', replacement: source('status.ts') },
      { find: 'lambda-once/sweeper', replacement: source('sweeper.ts') },
      { find: 'lambda-once/testing', replacement: source('testing.ts') },
      { find: /^lambda-once$/, replacement: source('index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/engine-setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
export default config;
