/** What BullMQ's queues and workers have in common. */
interface Opened {
  waitUntilReady(): Promise<unknown>;
  close(force?: boolean): Promise<void>;
  disconnect(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Milliseconds until what could not be opened is opened again. */
const AGAIN = 1_000;

/**
 * A queue or a worker. What fails for good while it opens (its first words to a broker that freezes
 * there), or hangs on a connection nobody answers any more, is closed and opened again.
 */
export class KeptOpen<T extends Opened> {
  #current: T;
  #timer: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(
    private readonly open: () => T,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#current = this.#open();
  }

  get current(): T {
    return this.#current;
  }

  /** Opens another soon, and cuts this one off. */
  reopen(): void {
    if (this.#closing || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void closeWithin(this.#current, AGAIN);
      this.#current = this.#open();
    }, AGAIN);
  }

  /** Gives it so many milliseconds, then cuts it off. */
  async close(within: number): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await closeWithin(this.#current, within);
  }

  #open(): T {
    const opened = this.open();
    opened.on('error', this.onError);
    opened.waitUntilReady().catch((error: unknown) => {
      if (this.#closing || opened !== this.#current) return;
      this.onError(error);
      this.reopen();
    });
    return opened;
  }
}

async function closeWithin(opened: Opened, within: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, within, 'late');
  });
  const closing = opened.close().then(
    () => 'closed',
    () => 'late',
  );
  if ((await Promise.race([closing, late])) === 'late')
    await Promise.race([opened.disconnect().catch(() => undefined), late]);
  clearTimeout(timer);
}
