import type { MessageStore } from '../store/message-store.js';
import type { MessagingJob } from './messaging.jobs.js';

const EVERY = 60_000;
/** Batches taken in one transaction at most. */
const BATCHES = 200;

/** Deletes what is past its retention. */
export function purgeJob(store: MessageStore, every = EVERY): MessagingJob {
  return {
    name: 'purge',
    every,
    run: async (signal) => {
      while (!signal.aborted && (await store.purge.step(BATCHES)));
    },
  };
}
