import { createHash } from 'node:crypto';

/** SHA-256 over texts, each after its length, so that no two lists of texts run together to the same bytes. */
export function digestOf(parts: readonly string[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest();
}
