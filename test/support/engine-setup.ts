import type { TestProject } from 'vitest/node';
import { startEngine } from '../../tools/local/engine.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    engine: { endpoint: string; transactions: boolean; returnsItems: boolean; kind: string };
  }
}

/** One engine for the whole run; every test file makes tables of its own on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engine = await startEngine();
  const { endpoint, kind, transactions, returnsItems } = engine;
  project.provide('engine', { endpoint, kind, transactions, returnsItems });
  return () => engine.stop();
}
