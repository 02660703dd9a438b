import { IdempotencyKeyInUseError } from '@dundun/messaging';

/** Sends, and repeats the send while another transaction holds the key, as the error asks, for as long as that takes. */
export async function whileInUse<T>(send: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof IdempotencyKeyInUseError)) throw error;
    }
}
