/** For pages and commands of operators: the history of all channels, holds, resends. */
export { MessageHistory } from './operations/history.service.js';
export { HoldsService, NotRestoredError, type RestoredLane } from './operations/holds.service.js';
export {
  AlreadySentError,
  ContentErasedError,
  DrainTimeoutError,
  MessageStatusError,
} from './message/errors.js';
export type {
  Changes,
  ConversationMessage,
  PresentStatuses,
  HistoryStats,
  InboundText,
  Latency,
  MessageOutcomes,
  MessageRecord,
  MessageTotal,
  SubmissionView,
  UnmatchedReport,
} from './message/views.js';
export type { BulkResult } from './operations/bulk-changes.js';
export { MessagingOperations } from './operations/operations.service.js';
export type { Resent } from './operations/repetitions.js';
export {
  type DeliveredCount,
  type DeliveredShare,
  type DeliveredSharesOptions,
  OUTCOME_GROUPS,
  type OutcomeAmount,
  type OutcomeFigures,
  type OutcomeGroup,
  type Outcomes,
  type OutcomesOfGroup,
} from './message/outcomes.js';
export type { ReceiptFinding } from './message/receipt-doubts.js';
export type { RebuiltOutcomes } from './store/upkeep/outcome-rebuild.js';
export type { DetailedReport, GuardedMessage } from './store/reads/guarded-messages.js';
export type { Hold } from './store/rows/hold.js';
