import type { InboundRecorder } from '../contacts/inbound.js';
import type { MessagingJob } from './messaging.jobs.js';

const EVERY = 600_000;
const IDS = 5_000;

/** Forgets ids of inbound messages that nobody repeats any more. */
export function inboundJob(inbound: InboundRecorder, every = EVERY): MessagingJob {
  return {
    name: 'inbound',
    every,
    run: async (signal) => {
      while (!signal.aborted && (await inbound.forget(IDS)) > 0);
    },
  };
}
