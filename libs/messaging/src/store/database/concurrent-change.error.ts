/** A fast path's assumption failed: it is rolled back, and the slow path takes its items. */
export class ConcurrentChangeError extends Error {}

export async function fastOrSlow<R>(
  fast: (() => Promise<R>) | undefined,
  slow: () => Promise<R>,
): Promise<R> {
  if (!fast) return slow();
  try {
    return await fast();
  } catch (error) {
    if (!(error instanceof ConcurrentChangeError)) throw error;
    return slow();
  }
}
