import type { RedisOptions } from 'bullmq';
import { MessagingConfigError } from '../../message/errors.js';
import { type Duration, milliseconds } from '../../ports/option-schema.js';
import type { EngineFactory } from '../../ports/dispatch-engine.js';
import { BullMqEngine } from './bullmq.engine.js';

/** Options of {@link bullMq}. */
export interface BullMqOptions {
  /** Redis or Valkey: `redis://…`, `rediss://…` or ioredis options, without cluster support. */
  readonly connection: string | RedisOptions;
  /**
   * Name of the queue, without a colon; one for each database. Where two databases share it, their
   * messages wait for the wake job, and a warning in the log says so. @default 'messaging'
   */
  readonly queue?: string;
  /** Prefix of all keys in Redis. @default 'bull' */
  readonly prefix?: string;
  /** Longest time a wake may take to reach the broker. @default '2s' */
  readonly deadline?: Duration;
}

/**
 * An engine for many processes, on BullMQ 6. A lane accepted in one process is drained in another
 * within milliseconds. Needs `bullmq` and `ioredis`.
 * @throws MessagingConfigError naming the option and the remedy, at start
 * @example
 * MessagingModule.forRoot({ transport, dispatch: { engine: bullMq({ connection: 'redis://127.0.0.1:6379' }) } })
 */
export function bullMq({
  connection,
  queue = 'messaging',
  prefix = 'bull',
  deadline: given = '2s',
}: BullMqOptions): EngineFactory {
  return ({ leaseTime, identity }) => {
    if (queue === '' || queue.includes(':'))
      throw new MessagingConfigError('engine.queue: must be a name without a colon');
    if (typeof connection === 'string' && !/^rediss?:\/\//.test(connection))
      throw new MessagingConfigError(
        'engine.connection: is no address of a broker; write redis://… or rediss://…',
      );
    const deadline = milliseconds('engine.deadline', given);
    if (deadline < 1) throw new MessagingConfigError('engine.deadline: must be at least 1 ms');
    // The job must become free before the lane's lease does: the next wake must not wait for it.
    const lock = Math.round(Math.min(10_000, Math.max(500, leaseTime / 3)));
    return new BullMqEngine({ connection, queue, prefix, identity, deadline, lock });
  };
}
