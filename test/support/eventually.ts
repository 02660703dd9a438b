/**
 * Tries until `check` passes; after `limit` milliseconds its last error is the answer. The default is
 * less than the default lease: what waits for its end does not pass for prompt.
 */
export async function eventually(check: () => Promise<void>, limit = 25_000): Promise<void> {
  const end = Date.now() + limit;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
