import { Logger } from '@nestjs/common';
import type { InboundRecorder } from '../contacts/inbound.js';
import type { LaneWaker } from '../ports/dispatch-engine.js';
import type { DueLane } from '../store/reads/lane-queues.js';
import type { MessageStore } from '../store/message-store.js';
import type { MessagingJob } from './messaging.jobs.js';

/** Interval between two searches for due lanes, in milliseconds: the longest wait of due work whose wake was lost. */
const WAKE_EVERY = 2_000;

const COMPLETE_EVERY = 60_000;
/** Most batches checked in one run. */
const COMPLETE_BATCHES = 10_000;

const PURGE_EVERY = 60_000;
/** Most batches in one transaction. */
const PURGE_BATCHES = 200;

const FORGET_EVERY = 600_000;
/** Most ids in one transaction. */
const FORGET_IDS = 5_000;

const logger = new Logger('Complete');

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
    every: WAKE_EVERY,
    atStart: true,
    run: async () => {
      for (const { lane, dueIn } of await due(WAKE_EVERY))
        waker.wake(lane, dueIn > 0 ? Date.now() + dueIn : undefined);
    },
  };
}

/** Completes batches that are still `sending` although none of their messages is left to send. */
export function completeJob(store: MessageStore, every = COMPLETE_EVERY): MessagingJob {
  return {
    name: 'complete',
    every,
    run: async () => {
      const completed = await store.completion.sweep(COMPLETE_BATCHES, Date.now() * 1_000);
      if (completed.length > 0)
        logger.warn(`${completed.length} batches had nothing left to do, and were not complete`);
    },
  };
}

/** Deletes data that is past its retention. */
export function purgeJob(store: MessageStore, every = PURGE_EVERY): MessagingJob {
  return {
    name: 'purge',
    every,
    run: async (signal) => {
      while (!signal.aborted && (await store.purge.step(PURGE_BATCHES)));
    },
  };
}

/** Deletes the ids of inbound messages that providers no longer repeat. */
export function inboundJob(inbound: InboundRecorder, every = FORGET_EVERY): MessagingJob {
  return {
    name: 'inbound',
    every,
    run: async (signal) => {
      while (!signal.aborted && (await inbound.forget(FORGET_IDS)) > 0);
    },
  };
}
