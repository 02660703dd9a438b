import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Whether one of the digests is the stored one. Constant time: hashed to one length, every digest is
 * compared, whichever of them is the right one.
 */
export function matchesDigest(given: readonly string[], stored: string): boolean {
  const known = hash('sha256', stored, 'buffer');
  let matches = false;
  for (const one of given)
    matches = timingSafeEqual(hash('sha256', one, 'buffer'), known) || matches;
  return matches;
}
