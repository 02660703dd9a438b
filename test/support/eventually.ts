import { Patience } from './patience.js';

/**
 * Tries until `check` passes; after `limit` milliseconds its last error is the answer. The default is
 * less than the default lease: what waits for its end does not pass for prompt.
 */
export async function eventually(check: () => Promise<void>, limit = 25_000): Promise<void> {
  const patience = new Patience(limit);
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (!(await patience.isLeft())) throw error;
    }
  }
}
