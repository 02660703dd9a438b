/** Numbers from 0 up to, but not including, 1, decided by one whole number (mulberry32). */
export function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of the process `name` in the run of `seed` (FNV-1a). */
export function seedOf(seed: number, name: string): number {
  let hash = 0x811c9dc5 ^ seed;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 1;
}
