import { afterAll, beforeEach, inject } from 'vitest';
import { type LossyProxy, startLossyProxy } from '../../tools/local/lossy-proxy.ts';

export type { LossyProxy } from '../../tools/local/lossy-proxy.ts';

/** A proxy for all tests of a file, healed before each of them. */
export async function lossyEngine(upstream: string = inject('engine').endpoint): Promise<LossyProxy> {
  const proxy = await startLossyProxy(upstream);
  beforeEach(() => proxy.heal());
  afterAll(() => proxy.stop());
  return proxy;
}
