import { Queue, type RedisOptions, Worker } from 'bullmq';

/** Durations in milliseconds. */
export interface BrokerSettings {
  readonly connection: string | RedisOptions;
  readonly queue: string;
  readonly prefix: string;
  /** Reads what tells the app's database from others. */
  readonly identity?: (() => Promise<string | undefined>) | undefined;
  /** Longest time a wake may take to reach the broker. */
  readonly deadline: number;
  /** How long a lane's job stays with a process that no longer answers; shorter than its lease. */
  readonly lock: number;
}

export interface LaneJob {
  readonly lane: string;
  /** The database whose lane it is; absent where it is not known. */
  readonly database?: string | undefined;
}

/** Longest wait between two attempts to connect, in milliseconds, as the times below. */
const MAX_RECONNECT_DELAY = 1_000;

/** Time limit of the broker's answer to a worker. */
const ANSWER_TIMEOUT = 2_000;

/** The same for a blocking command, which blocks for at most ten seconds. */
const BLOCKING_TIMEOUT = 12_000;

const REOPEN_DELAY = 1_000;

const CLOSE_TIMEOUT = 1_000;

/** Opens the queue for wakes. Its commands fail at once while the broker is unavailable. */
export function openQueue({ connection, queue, prefix, deadline }: BrokerSettings): Queue<LaneJob> {
  return new Queue<LaneJob>(queue, {
    prefix,
    // BullMQ's event stream has no readers.
    streams: { events: { maxLen: 1_000 } },
    connection: redisOf(connection, {
      commandTimeout: deadline,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
    }),
  });
}

export function openWorker(
  { connection, queue, prefix, lock }: BrokerSettings,
  work: (job: LaneJob) => Promise<void>,
): Worker<LaneJob> {
  const worker = new Worker<LaneJob>(queue, ({ data }) => work(data), {
    prefix,
    concurrency: 10_000,
    lockDuration: lock,
    stalledInterval: Math.round(lock / 2),
    // A lane is retried without limit, even where its processes keep dying.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    runRetryDelay: MAX_RECONNECT_DELAY,
    connection: redisOf(connection, {
      maxRetriesPerRequest: null,
      commandTimeout: BLOCKING_TIMEOUT,
    }),
  });
  void worker
    .getBackend()
    .client.then((client) => Object.assign(client.options, { commandTimeout: ANSWER_TIMEOUT }))
    .catch(() => undefined);
  return worker;
}

function redisOf(connection: string | RedisOptions, own: RedisOptions): RedisOptions {
  const given = typeof connection === 'string' ? { url: connection } : connection;
  const retryStrategy = (times: number) => Math.min(times * 100, MAX_RECONNECT_DELAY);
  return { ...given, ...own, retryStrategy };
}

interface Opened {
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
  disconnect(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * Reopens a queue or a worker that fails for good while it opens (such as its first commands to a
 * broker that hangs), or whose connection no longer answers.
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

  reopen(): void {
    if (this.#closing || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void closeInTime(this.#current);
      this.#current = this.#open();
    }, REOPEN_DELAY);
  }

  /** Cuts a connection that does not close in time. */
  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await closeInTime(this.#current);
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

async function closeInTime(opened: Opened): Promise<void> {
  const closing = opened.close().catch(() => LATE);
  if ((await within(CLOSE_TIMEOUT, closing)) === LATE)
    await within(
      CLOSE_TIMEOUT,
      opened.disconnect().catch(() => undefined),
    );
}

export const LATE = Symbol('late');

export async function within<T>(limit: number, work: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, limit, LATE);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
