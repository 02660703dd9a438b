import { Logger } from '@nestjs/common';
import type { MessageStore } from '../store/message-store.js';
import type { MessagingJob } from './messaging.jobs.js';

const EVERY = 60_000;
/** Batches looked at in one run. */
const BATCHES = 10_000;

const logger = new Logger('Complete');

/** Completes batches that were left `sending` although nothing of them is left to do. */
export function completeJob(store: MessageStore, every = EVERY): MessagingJob {
  return {
    name: 'complete',
    every,
    run: async () => {
      const completed = await store.completion.sweep(BATCHES, Date.now() * 1_000);
      if (completed.length > 0)
        logger.warn(`${completed.length} batches had nothing left to do, and were not complete`);
    },
  };
}
