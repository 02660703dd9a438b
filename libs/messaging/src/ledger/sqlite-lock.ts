import { Logger } from '@nestjs/common';
import { isBusy } from './database-errors.js';

/** Milliseconds after which somebody is told. */
const LONG = 5_000;

/** Does `work` once no other process holds SQLite's write lock; waits without blocking the event loop. */
export async function whenFree<T>(work: () => Promise<T>): Promise<T> {
  const warnAt = Date.now() + LONG;
  let warned = false;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (!warned && Date.now() > warnAt) {
        warned = true;
        new Logger('LedgerDatabase').warn(
          'SQLite has been locked by another process for 5 s; waiting for it',
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 10));
    }
  }
}
