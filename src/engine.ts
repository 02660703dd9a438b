import type { EngineFactory } from '@dundun/messaging';
import type { Environment } from './config/environment.js';

/** How `ENGINE` becomes one; BullMQ is loaded where it is asked for. */
export async function engineOf({
  ENGINE,
  REDIS_URL = '',
}: Environment): Promise<EngineFactory | undefined> {
  if (ENGINE === 'database') return undefined;
  const { bullMq } = await import('@dundun/messaging/bullmq');
  return bullMq({ connection: REDIS_URL, queue: 'dundun' });
}
