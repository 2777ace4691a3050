import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig = defineConfig({
  entry: {
    index: 'src/index.ts',
    metrics: 'src/metrics.ts',
    outbox: 'src/outbox.ts',
    status: 'src/status.ts',
    sweeper: 'src/sweeper.ts',
    testing: 'src/testing.ts',
  },
  format: ['esm', 'cjs'],
  platform: 'node',
  target: 'node22',
  // types are written out in src, so each file gives its declarations alone
  dts: { oxc: {} },
  clean: true,
});
export default config;
