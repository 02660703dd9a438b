import type { Start } from './cluster.js';

/** Most messages started in any window of `per` milliseconds. */
export function fullestWindow(starts: readonly Start[], per: number): number {
  const sorted = [...starts].sort((a, b) => a.at - b.at);
  let most = 0;
  let inside = 0;
  for (let last = 0, first = 0; last < sorted.length; last++) {
    inside += (sorted[last] as Start).messages;
    while ((sorted[last] as Start).at - (sorted[first] as Start).at >= per)
      inside -= (sorted[first++] as Start).messages;
    most = Math.max(most, inside);
  }
  return most;
}
