import { isStatementLost, isTransient } from './database-errors.js';

const RETRIES = 10;

/**
 * What the database undid for reasons that pass (a deadlock, a serialisation failure) is done again.
 * @param isFinal an error that is told all the same
 */
export async function retried<T>(
  work: () => Promise<T>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const again = isTransient(error) || isStatementLost(error);
      if (attempt >= RETRIES || isFinal(error) || !again) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5 * 2 ** attempt));
    }
  }
}
