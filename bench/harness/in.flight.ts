/** Runs `work(0)` to `work(n - 1)`, `width` at a time. */
export async function inFlight(
  n: number,
  width: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < n) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(n, width) }, one));
}
