export type Found<T> = Exclude<T, false | undefined | null>;

/**
 * Asks until something is found.
 * @param limit milliseconds
 * @param hint what the error says beside the limit
 */
export async function until<T>(
  find: () => T | Promise<T>,
  limit: number,
  hint: string,
): Promise<Found<T>> {
  const end = Date.now() + limit;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== null && found !== false) return found as Found<T>;
    if (Date.now() > end) throw new Error(`not within ${limit} ms; ${hint}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
