/**
 * Message statuses by rank. The highest rank reported so far *is* the status, whatever the order of
 * arrival, so the numbers below are the whole state machine:
 *
 * ```
 * queued → sending → unknown → sent → expired → undelivered → failed → rejected → delivered → read
 *   ↓  ↖______|  (only after a definite refusal, only by the recorder)
 * cancelled      (only from queued)
 * ```
 *
 * The store stores the rank; the gaps leave room for statuses to come.
 */
export const STATUS_RANK = {
  queued: 10,
  sending: 20,
  unknown: 30,
  sent: 40,
  expired: 50,
  undelivered: 60,
  failed: 70,
  rejected: 80,
  delivered: 90,
  read: 100,
  cancelled: 120,
} as const;

/** Status of one recipient's message. `unknown`: the submit's outcome could not be learned. */
export type MessageStatus = keyof typeof STATUS_RANK;

/** Statuses a provider's delivery report can carry. */
export type ReportedStatus = Exclude<MessageStatus, 'queued' | 'sending' | 'unknown' | 'cancelled'>;

/** `scheduled → queued → sending → completed`, or `cancelled`. Reports may follow `completed`. */
export type BatchStatus = 'scheduled' | 'queued' | 'sending' | 'completed' | 'cancelled';

const BY_RANK = new Map<number, MessageStatus>(
  Object.entries(STATUS_RANK).map(([name, rank]) => [rank, name as MessageStatus]),
);

/** @throws RangeError for a rank no status has. */
export function statusOfRank(rank: number): MessageStatus {
  const status = BY_RANK.get(rank);
  if (!status) throw new RangeError(`No message status has rank ${rank}`);
  return status;
}

/** Nothing but a higher terminal report moves a terminal message. */
export function isTerminal(status: MessageStatus): boolean {
  return STATUS_RANK[status] >= STATUS_RANK.expired;
}

function isMessageStatus(value: unknown): value is MessageStatus {
  return typeof value === 'string' && Object.hasOwn(STATUS_RANK, value);
}

/** Statuses a report may claim; anything else is kept raw and moves nothing. */
export function isReportedStatus(value: unknown): value is ReportedStatus {
  return isMessageStatus(value) && STATUS_RANK[value] >= STATUS_RANK.sent && value !== 'cancelled';
}
