import { TryLimit } from './try-limit.js';

/**
 * Tries until `check` passes; after `limit` milliseconds its last error is the answer. The default is
 * less than the default lease, so that a check that passes only at its end fails.
 */
export async function eventually(check: () => Promise<void>, limit = 25_000): Promise<void> {
  const tries = new TryLimit(limit);
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (!(await tries.isLeft())) throw error;
    }
  }
}
