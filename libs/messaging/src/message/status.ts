/** One status of a channel's messages. */
export interface StatusDefinition {
  /**
   * The highest reported rank is the message's status; a channel's own have ranks 40 to 119. The
   * store keeps ranks, so a rank never changes, and a name has the same rank on every channel.
   */
  readonly rank: number;
  /** No further report is asked for; one of a higher rank may still follow. @default false */
  readonly terminal?: boolean;
  /** Provider reports may have this status. @default false */
  readonly reported?: boolean;
  /** The message did not reach its recipient; frequency caps do not count it. @default false */
  readonly failed?: boolean;
}

/**
 * Statuses of the built-in channels. The highest reported rank is the status, in any order of
 * arrival, so the ranks are the whole state machine:
 *
 * ```
 * queued → sending → unknown → sent → expired → undelivered → failed → rejected → delivered → read
 *   ↓  ↖______|  (only after a definite refusal, only by the holder of the lane)
 * cancelled      (only from queued)
 * ```
 *
 * Reserved: initiated 41, processing 42, ringing 45, no_answer 62, busy 64, answered 91, completed
 * 95, bounced 105, reversed 106, complained 110.
 */
export const STATUSES = {
  queued: { rank: 10 },
  sending: { rank: 20 },
  unknown: { rank: 30 },
  sent: { rank: 40, reported: true },
  expired: { rank: 50, terminal: true, reported: true, failed: true },
  undelivered: { rank: 60, terminal: true, reported: true, failed: true },
  failed: { rank: 70, terminal: true, reported: true, failed: true },
  rejected: { rank: 80, terminal: true, reported: true, failed: true },
  delivered: { rank: 90, terminal: true, reported: true },
  read: { rank: 100, terminal: true, reported: true },
  cancelled: { rank: 120, terminal: true, failed: true },
} as const satisfies Readonly<Record<string, StatusDefinition>>;

/** Status of one recipient's message on a built-in channel. */
export type MessageStatus = keyof typeof STATUSES;

/** Statuses that a provider's delivery report may carry on a built-in channel. */
export type ReportedStatus = Exclude<MessageStatus, 'queued' | 'sending' | 'unknown' | 'cancelled'>;

/** Status on any channel: a built-in one, or one that a registered channel defines. */
export type ChannelStatus = MessageStatus | (string & {});

/** `scheduled → queued → sending → completed`, or `cancelled`. Reports may follow `completed`. */
export type BatchStatus = 'scheduled' | 'queued' | 'sending' | 'completed' | 'cancelled';

/** Ranks of the built-in statuses, as the store keeps them. */
export const STATUS_RANK = Object.fromEntries(
  Object.entries(STATUSES).map(([name, { rank }]) => [name, rank]),
) as { readonly [Name in MessageStatus]: (typeof STATUSES)[Name]['rank'] };

/** Every {@link MessageStatus}, by rank. */
export const MESSAGE_STATUSES = Object.keys(STATUSES) as readonly MessageStatus[];

/** Every {@link ReportedStatus}, by rank. */
export const REPORTED_STATUSES: readonly ReportedStatus[] =
  MESSAGE_STATUSES.filter(isReportedStatus);

export function isReportedStatus(value: unknown): value is ReportedStatus {
  return (
    typeof value === 'string' &&
    Object.hasOwn(STATUSES, value) &&
    'reported' in STATUSES[value as MessageStatus]
  );
}

/** Lowest rank of a reported status: changes from it on have a sequence number and webhooks. */
export const FIRST_REPORTED_RANK = STATUS_RANK.sent;
