/**
 * Wait before a further try: `first`, doubled each time, up to `most`; in the unit of `first`.
 * @param doublings 0 for the first wait
 * @param jitter the wait is multiplied by a random number of this range
 */
export function doubledWait(
  first: number,
  doublings: number,
  most: number,
  [least, greatest]: readonly [number, number] = [1, 1],
  random: () => number = Math.random,
): number {
  const wait = Math.min(most, first * 2 ** Math.min(30, doublings));
  return wait * (least + (greatest - least) * random());
}
