/**
 * An assumption of a fast path does not hold: the items need the slow path, or the statement
 * affected unexpected rows. The transaction is rolled back.
 */
export class ConcurrentChangeError extends Error {}

/** Runs the fast path of the driver, if any; the slow path where its assumptions fail. */
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
