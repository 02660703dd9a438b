/** Methods that BullMQ's queues and workers share. */
interface Opened {
  waitUntilReady(): Promise<unknown>;
  close(force?: boolean): Promise<void>;
  disconnect(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Wait before a failed queue or worker is reopened, in milliseconds. */
const REOPEN_DELAY = 1_000;

/**
 * Keeps a queue or a worker open. It is closed and reopened where it fails for good while it opens (such as its first
 * commands to a broker that hangs), or where its connection no longer answers.
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

  /** Opens a new instance soon and closes this one. */
  reopen(): void {
    if (this.#closing || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void closeWithin(this.#current, REOPEN_DELAY);
      this.#current = this.#open();
    }, REOPEN_DELAY);
  }

  /** Closes the instance; cuts its connection after `within` milliseconds. */
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
