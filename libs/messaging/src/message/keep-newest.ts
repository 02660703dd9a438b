/** Removes the entries that were set first, until at most `most` stay. */
export function keepNewest<Key>(map: Map<Key, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
