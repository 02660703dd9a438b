import type { MessageStore } from '../store/message-store.js';
import type { LaneWaker } from '../ports/lane-waker.js';
import type { MessagingJob } from './messaging.jobs.js';

/** Milliseconds: no due message waits longer for a wake that was lost, or that another process had. */
const EVERY = 2_000;

/** Finds lanes with due work nobody holds, and lanes whose holder fell silent. */
export function wakeJob(store: MessageStore, waker: LaneWaker): MessagingJob {
  return {
    name: 'wake',
    every: EVERY,
    run: async () => {
      for (const { lane, dueIn } of await store.queues.due(EVERY))
        waker.wake(lane, dueIn > 0 ? Date.now() + dueIn : undefined);
      for (const lane of await store.queues.abandoned()) waker.wake(lane);
    },
  };
}
