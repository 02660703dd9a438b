/** Leased lanes, wakes, a bounded stop, group commit and retries for an app's own work. */
export { recordAgain, scheduledWait } from './dispatch/backoff.js';
export { doubledWait } from './message/doubled-wait.js';
export type { LaneTask } from './dispatch/dispatcher.js';
export type { LeasedLane } from './dispatch/leased-lane.js';
export type { MessagingJob } from './jobs/messaging.jobs.js';
export { partsOfQueueLane, queueLaneOf } from './message/ids.js';
export type { LaneWaker } from './ports/dispatch-engine.js';
export { retryAfterMilliseconds } from './providers/http-client/http-failures.js';
export {
  isBusy,
  isDataError,
  isUnavailable,
  refusalOfWrites,
  type WriteRefusal,
} from './store/database/database-errors.js';
export { GroupCommit, type GroupCommitOptions } from './store/database/group-commit.js';
export type { DueLane } from './store/reads/lane-queues.js';
export type { Sql } from './store/database/sql.js';
export { type QueueDatabase, type WorkQueue, WorkQueues } from './work-queues.js';
