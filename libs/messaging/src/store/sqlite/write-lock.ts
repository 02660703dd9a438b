import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { TransactionRequiredError } from '../../message/errors.js';
import { isBusy } from '../database/database-errors.js';

/** Wait, in ms, after which a warning names the holder. */
export const LONG_WAIT = 5_000;

/** Longest wait, in ms, for a transaction of this process, which may itself wait for the one that waits. */
const LONGEST_WAIT = 30_000;

/** `transaction`: one that this process has open on the module's data source. */
export type LockHolder = 'process' | 'transaction';

const WORDS: Readonly<Record<LockHolder, string>> = {
  process: 'by another process',
  transaction:
    "by an open transaction of this process on the module's data source, which must pass its manager to what it sends,",
};

/** SQLite's write lock, for which the one writer of a process whose turn it is waits. */
export class WriteLock {
  #holder: LockHolder | undefined;
  /** Since when each attempt has found a transaction of this process open. */
  #openSince: number | undefined;

  constructor(
    /** Whether the app's connection is in a transaction. */
    private readonly isAppOpen: () => boolean,
    /** Aborted when waits for other processes must end. */
    private readonly over?: AbortSignal,
    private readonly longestWait = LONGEST_WAIT,
  ) {}

  /** What the present wait is for. */
  get holder(): LockHolder | undefined {
    return this.#holder;
  }

  /** Milliseconds for which a transaction of this process has kept the writer waiting. */
  get openFor(): number {
    // Without a writer no attempt has seen its end.
    return this.#openSince === undefined || !this.isAppOpen()
      ? 0
      : performance.now() - this.#openSince;
  }

  /**
   * Begins anew at each attempt, without blocking the event loop: a transaction that waited for the lock
   * with a snapshot is refused at every attempt once another process has written (`SQLITE_BUSY_SNAPSHOT`).
   * @param begin begins with the write lock; `false`: it did not try, because the connection is in use
   * @throws TransactionRequiredError after 30 s behind a transaction of this process
   * @throws the reason of `over`
   */
  async take(begin: () => Promise<boolean>): Promise<void> {
    let warnAt = performance.now() + LONG_WAIT;
    try {
      for (;;) {
        this.over?.throwIfAborted();
        // No other flow of the process is between two statements then.
        await turn();
        if (await tried(begin)) break;
        this.#holder = this.isAppOpen() ? 'transaction' : 'process';
        if (this.#holder === 'process') this.#openSince = undefined;
        else this.#openSince ??= performance.now();
        if (this.openFor > this.longestWait)
          throw new TransactionRequiredError(
            `manager: a transaction of this process on the module's data source has kept SQLite's writers waiting for ${this.longestWait / 1_000} s; end it, or pass its manager to what is done inside it`,
          );
        if (performance.now() > warnAt) {
          warnAt = Infinity;
          new Logger('StoreDatabase').warn(
            `SQLite has been locked ${WORDS[this.#holder]} for ${LONG_WAIT / 1_000} s; waiting for it`,
          );
        }
        await wait(1 + Math.random() * 10);
      }
      this.#openSince = undefined;
    } finally {
      this.#holder = undefined;
    }
  }
}

async function tried(begin: () => Promise<boolean>): Promise<boolean> {
  try {
    return await begin();
  } catch (error) {
    if (!isBusy(error)) throw error;
    return false;
  }
}
