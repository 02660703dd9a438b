/** Leased lanes, wakes, a bounded stop, group commit and retries for an app's own work. */
export { scheduledWait } from './dispatch/backoff.js';
export { doubledWait } from './message/doubled-wait.js';
export { timeLimit } from './message/time-limit.js';
export { type DueTask, dueTask } from './dispatch/due-task.js';
export { DeliveryLane } from './dispatch/delivery-lane.js';
export type { LaneTask } from './dispatch/dispatcher.js';
export type { LeasedLane } from './dispatch/leased-lane.js';
export type { MessagingJob } from './jobs/messaging.jobs.js';
export { retryAfterMilliseconds } from './providers/http-client/http-failures.js';
export {
  isBusy,
  isDataError,
  isUnavailable,
  refusalOfWrites,
  type WriteRefusal,
} from './store/database/database-errors.js';
export { insertion, type Statement, updateOf } from './store/database/dialect.js';
export { GroupCommit, type GroupCommitOptions } from './store/database/group-commit.js';
export type { Sql } from './store/database/sql.js';
export { type DueWork, type QueueDatabase, type WorkQueue, WorkQueues } from './work-queues.js';
