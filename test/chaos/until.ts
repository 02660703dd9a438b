import { TryLimit } from '../support/try-limit.js';

export type Found<T> = Exclude<T, false | undefined | null>;

/**
 * Asks until something is found.
 * @param limit milliseconds
 * @param hint text of the error beside the limit
 */
export async function until<T>(
  find: () => T | Promise<T>,
  limit: number,
  hint: string,
): Promise<Found<T>> {
  const tries = new TryLimit(limit);
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== null && found !== false) return found as Found<T>;
    if (!(await tries.isLeft())) throw new Error(`not within ${limit} ms; ${hint}`);
  }
}
