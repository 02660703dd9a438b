/** Tries until `check` passes; after `limit` milliseconds its last error is the answer. */
export async function eventually(check: () => Promise<void>, limit = 15_000): Promise<void> {
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
