import { defineConfig, type UserConfig } from 'tsdown';

const common = { platform: 'node', target: 'node22' } satisfies UserConfig;

/** A function that the constructs deploy as it is: one file, all that it needs inside. */
const prebuilt = (name: string): UserConfig => ({
  ...common,
  entry: { index: `src/lambda/prebuilt/${name}.ts` },
  outDir: `dist/assets/${name}`,
  format: 'esm',
  noExternal: () => true,
  minify: true,
  dts: false,
  outputOptions: { codeSplitting: false },
});

const config: UserConfig[] = defineConfig([
  {
    ...common,
    entry: {
      cdk: 'lib/index.ts',
      index: 'src/index.ts',
      metrics: 'src/metrics.ts',
      outbox: 'src/outbox.ts',
      status: 'src/status.ts',
      sweeper: 'src/sweeper.ts',
      testing: 'src/testing.ts',
    },
    format: ['esm', 'cjs'],
    // types are written out in src, so each file gives its declarations alone
    dts: { oxc: {} },
    // the prebuilt functions are below, and are cleaned by their own build
    clean: ['dist/*.*'],
  },
  prebuilt('sweeper'),
  prebuilt('outbox'),
]);
export default config;
