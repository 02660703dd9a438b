import type { RedisOptions } from 'bullmq';
import { MessagingConfigError } from '../../message/errors.js';
import { type Duration, milliseconds } from '../../ports/duration.js';

/** Options of {@link bullMq}. */
export interface BullMqOptions {
  /**
   * Redis or Valkey: `redis://…`, `rediss://…` or ioredis options, without cluster support. PostgreSQL, through
   * BullMQ's own backend: `postgres://…`.
   */
  readonly connection: string | RedisOptions;
  /** Name of the queue; apps with different databases need different ones. No colon. @default 'messaging' */
  readonly queue?: string;
  /** Prefix of all keys in Redis, or the schema on PostgreSQL. @default 'bull', 'bullmq' */
  readonly prefix?: string;
  /** Lanes one process drains at a time. @default 10000 */
  readonly lanes?: number;
  /** Longest time a wake may take to reach the broker. @default '2s' */
  readonly deadline?: Duration;
  /** PostgreSQL: create and update BullMQ's own schema. @default true */
  readonly migrate?: boolean;
}

/** The options with their defaults, durations in milliseconds. */
export interface BullMqSettings {
  readonly connection: string | RedisOptions;
  readonly postgres: boolean;
  readonly queue: string;
  readonly prefix: string | undefined;
  readonly lanes: number;
  readonly deadline: number;
  readonly migrate: boolean;
  /** How long the job of a lane stays with a process that no longer answers; shorter than the lane's lease. */
  readonly lock: number;
}

/** @throws MessagingConfigError naming the option and the remedy */
export function bullMqSettings(options: BullMqOptions, leaseTime: number): BullMqSettings {
  const { connection, queue = 'messaging', prefix, lanes = 10_000, migrate = true } = options;
  if (queue === '' || queue.includes(':'))
    throw new MessagingConfigError('engine.queue: must be a name without a colon');
  if (!Number.isSafeInteger(lanes) || lanes < 1)
    throw new MessagingConfigError('engine.lanes: must be a whole number of at least 1');
  const deadline = milliseconds('engine.deadline', options.deadline ?? '2s');
  if (deadline < 1) throw new MessagingConfigError('engine.deadline: must be at least 1 ms');
  return {
    connection,
    postgres: isPostgres(connection),
    queue,
    prefix,
    lanes,
    deadline,
    migrate,
    // The job must become free before the lane's lease does, because the wake that follows must not wait for it.
    lock: Math.round(Math.min(10_000, Math.max(500, leaseTime / 3))),
  };
}

function isPostgres(connection: BullMqOptions['connection']): boolean {
  if (typeof connection !== 'string') return false;
  const { protocol = '' } = URL.canParse(connection) ? new URL(connection) : {};
  if (/^postgres(ql)?:$/.test(protocol)) return true;
  if (/^rediss?:$/.test(protocol)) return false;
  throw new MessagingConfigError(
    'engine.connection: is no address of a broker; write redis://…, rediss://… or postgres://…',
  );
}
