import type { EngineFactory } from '../../ports/dispatch-engine.js';
import { BullMqEngine } from './bullmq.engine.js';
import { type BullMqOptions, bullMqSettings } from './bullmq.options.js';

export type { BullMqOptions };

/**
 * An engine for many processes, on BullMQ 6. A lane accepted in one process is drained in another within
 * milliseconds. Needs `bullmq`, and `ioredis` (Redis, Valkey) or `pg` (PostgreSQL).
 *
 * @throws MessagingConfigError naming the option and the remedy, at start
 * @example
 * MessagingModule.forRoot({ baseUrl, apiToken, dispatch: { engine: bullMq({ connection: 'redis://127.0.0.1:6379' }) } })
 */
export function bullMq(options: BullMqOptions): EngineFactory {
  return ({ leaseTime }) => new BullMqEngine(bullMqSettings(options, leaseTime));
}
