import { IdempotencyKeyInUseError } from '@dundun/messaging';

/** Sends, and as the error asks sends again while somebody's open transaction holds the key: however long the machine stands still in it. */
export async function whileInUse<T>(send: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof IdempotencyKeyInUseError)) throw error;
    }
}
