/** What writes wait for: a lock of another process, a transaction of this one, or the database's answer. */
export type WriteWait = 'locked' | 'transaction_open' | 'database';

/** The writes of this process. */
export interface WriteHealth {
  /** Milliseconds for which the write that has waited longest has waited; 0: none waits. */
  readonly waiting: number;
  /** What it waits for; `undefined`: none waits. */
  readonly waitsFor: WriteWait | undefined;
}

/** A write of this process: it waits for its turn or for the database, or its caller's code runs. */
export class WatchedWrite {
  #waits = true;
  #since = performance.now();

  get isWaiting(): boolean {
    return this.#waits;
  }

  /** Of its state, monotonic. */
  get since(): number {
    return this.#since;
  }

  waits(): void {
    this.#waits = true;
    this.#since = performance.now();
  }

  works(): void {
    this.#waits = false;
    this.#since = performance.now();
  }

  /** While a statement has no answer. */
  async during<T>(answer: Promise<T>): Promise<T> {
    this.waits();
    try {
      return await answer;
    } finally {
      this.works();
    }
  }
}

/** The writes of this process that have not ended. */
export class WriteWatch {
  readonly #writes = new Set<WatchedWrite>();

  async run<T>(work: (write: WatchedWrite) => Promise<T>): Promise<T> {
    const write = new WatchedWrite();
    this.#writes.add(write);
    try {
      return await work(write);
    } finally {
      this.#writes.delete(write);
    }
  }

  /** Milliseconds of the longest wait, and of the longest time without a statement in a transaction. */
  longest(): { readonly waiting: number; readonly idle: number } {
    const now = performance.now();
    let [waiting, idle] = [0, 0];
    for (const { isWaiting, since } of this.#writes)
      if (isWaiting) waiting = Math.max(waiting, now - since);
      else idle = Math.max(idle, now - since);
    return { waiting, idle };
  }
}
