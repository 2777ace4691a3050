import { sweepIndex } from '../names.ts';

/** The partition of the sweep index that a record is in while it is open. Ids end in a digest, which spreads evenly. */
export function shardOf(id: string): string {
  const [byte = 0] = Buffer.from(id.slice(-8), 'base64url');
  return String(byte % sweepIndex.shards);
}

/** All of them. */
export const shards: readonly string[] = Array.from({ length: sweepIndex.shards }, (_, shard) =>
  String(shard),
);
