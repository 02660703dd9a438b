import type { LaneWaker } from '../ports/lane-waker.js';
import type { DueLane } from '../store/lane-queues.js';
import type { MessagingJob } from './messaging.jobs.js';

/** Milliseconds: due work waits no longer where a wake was lost, or went to another process. */
const EVERY = 2_000;

/**
 * Wakes the lanes that have due work and that no process holds.
 * @param due lanes due within `horizon` milliseconds that no process holds
 */
export function wakeJob(
  waker: LaneWaker,
  name: string,
  due: (horizon: number) => Promise<readonly DueLane[]>,
): MessagingJob {
  return {
    name,
    every: EVERY,
    atStart: true,
    run: async () => {
      for (const { lane, dueIn } of await due(EVERY))
        waker.wake(lane, dueIn > 0 ? Date.now() + dueIn : undefined);
    },
  };
}
