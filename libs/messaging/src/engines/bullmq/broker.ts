import { createPostgresBackend, Queue, type RedisOptions, Worker } from 'bullmq';
import type { BullMqSettings } from './bullmq.options.js';

/** Data of a job: the lane to drain, or to wake later. */
export interface LaneJob {
  readonly lane: string;
}

/** Longest wait between two attempts to connect, in milliseconds. */
const MAX_RECONNECT_DELAY = 1_000;

/** Time limit of the broker's answer to a worker, in milliseconds. */
const ANSWER_TIMEOUT = 2_000;

/** Time limit of the answer to a blocking command, which blocks for at most ten seconds, in milliseconds. */
const BLOCKING_TIMEOUT = 12_000;

/** Most entries of BullMQ's event stream, which has no readers. */
const MAX_EVENTS = 1_000;

/** Opens the queue for wakes. Its commands fail at once while the broker is unavailable. */
export function openQueue(settings: BullMqSettings): Queue<LaneJob> {
  const { queue, deadline } = settings;
  const common = { ...prefixOf(settings), streams: { events: { maxLen: MAX_EVENTS } } };
  if (settings.postgres)
    return new Queue(
      queue,
      { ...common, connection: postgresOf(settings, { max: 2, query_timeout: deadline }) },
      createPostgresBackend,
    ) as unknown as Queue<LaneJob>;
  const connection = redisOf(settings, {
    commandTimeout: deadline,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
  });
  return new Queue<LaneJob>(queue, { ...common, connection });
}

/** Opens a worker that drains up to `lanes` lanes at a time. */
export function openWorker(
  settings: BullMqSettings,
  work: (name: string, job: LaneJob) => Promise<void>,
): Worker<LaneJob> {
  const { queue, lanes, lock } = settings;
  const options = {
    ...prefixOf(settings),
    concurrency: lanes,
    lockDuration: lock,
    stalledInterval: Math.round(lock / 2),
    // A lane is retried without limit, even where its processes keep dying.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    runRetryDelay: MAX_RECONNECT_DELAY,
  };
  const process = ({ name, data }: { name: string; data: LaneJob }) => work(name, data);
  if (settings.postgres)
    return new Worker(
      queue,
      process,
      { ...options, connection: postgresOf(settings, { max: 4 }) },
      createPostgresBackend,
    ) as unknown as Worker<LaneJob>;
  const connection = redisOf(settings, {
    maxRetriesPerRequest: null,
    commandTimeout: BLOCKING_TIMEOUT,
  });
  const worker = new Worker<LaneJob>(queue, process, { ...options, connection });
  void worker
    .getBackend()
    .client.then((client) => Object.assign(client.options, { commandTimeout: ANSWER_TIMEOUT }))
    .catch(() => undefined);
  return worker;
}

function prefixOf({ prefix, postgres }: BullMqSettings): { prefix?: string } {
  return prefix === undefined || postgres ? {} : { prefix };
}

function redisOf({ connection }: BullMqSettings, own: RedisOptions): RedisOptions {
  const options = {
    ...own,
    retryStrategy: (times: number) => Math.min(times * 100, MAX_RECONNECT_DELAY),
  };
  return typeof connection === 'string'
    ? { url: connection, ...options }
    : { ...connection, ...options };
}

function postgresOf({ connection, prefix, migrate, deadline }: BullMqSettings, own: object) {
  return {
    connectionString: connection as string,
    connectionTimeoutMillis: deadline,
    keepAlive: true,
    migrate,
    ...(prefix !== undefined && { schema: prefix }),
    ...own,
  };
}
