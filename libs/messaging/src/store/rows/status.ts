import type { ReportDetails } from '../../message/events.js';
import { FIRST_REPORTED_RANK, STATUS_RANK } from '../../message/status.js';

/** A locked message. It is changed in place, so that one transaction may raise it twice. */
export interface LockedMessage {
  readonly batch: string;
  readonly position: number;
  readonly recipient: string;
  readonly tenant: string;
  readonly channel: string;
  readonly sender: string;
  readonly delivery_report: number;
  /** 1: the batch has tags or metadata. */
  readonly labelled: number;
  /** 1: the app's spend guard hears of its changes. */
  readonly guarded: number;
  /** The notification of which the message is a step. */
  readonly notification: string | null;
  /** Of the batch; 0: not known, where no change is counted. */
  readonly recipient_count: number;
  /** Its last submission; `null`: none, or it waits to be sent again. */
  submission: number | null;
  status: number;
  sequence: number;
  error_code: string | null;
  /** The provider's id of the message, once known. */
  reference: string | null;
}

/**
 * SQL condition: the message waits to start, for the first time or again. While it waits for a
 * further try after a report, its status is kept as the negative rank.
 */
export function isQueued(message: string): string {
  return `${message}.status <= ${STATUS_RANK.queued}`;
}

export interface StatusChange {
  readonly message: LockedMessage;
  /** Of the message, when it changed. */
  readonly submission: number | null;
  readonly previous: number;
  readonly status: number;
  /** Number of the announced change; 0: the change is not announced. */
  readonly sequence: number;
  readonly errorCode: string | null;
  /** Epoch microseconds. */
  readonly at: number;
  /** Event that left the status as it was. */
  readonly event?: string;
  /** Further data of the report. */
  readonly details?: ReportDetails | null;
  /** The provider that reported or decided it, as the log has it. */
  readonly provider?: string;
  /** When the log received it, where that is not `at`. Epoch microseconds. */
  readonly receivedAt?: number;
  /** The event sets the message back, to be sent again. */
  readonly isRedial?: boolean;
}

const LOCKED = {
  m: [
    'batch',
    'position',
    'recipient',
    'submission',
    'status',
    'sequence',
    'error_code',
    'reference',
  ],
  b: [
    'tenant',
    'channel',
    'sender',
    'delivery_report',
    'labelled',
    'guarded',
    'notification',
    'recipient_count',
  ],
} as const satisfies Record<string, readonly (keyof LockedMessage)[]>;

const LOCKED_PLACES = Object.entries(LOCKED).flatMap(([table, names]) =>
  names.map((name) => ({ name, column: `${table}.${name}` })),
);

/** SQL: the columns of a {@link LockedMessage}, of the message `m` and its batch `b`. */
export const LOCKED_COLUMNS = LOCKED_PLACES.map(({ column }) => column).join(', ');

/** The same columns of a row that was selected before. */
export const LOCKED_NAMES = LOCKED_PLACES.map(({ name }) => name).join(', ');

/**
 * The higher rank wins, regardless of the order of arrival; of two reports with one rank the first
 * wins. {@link isBelow} and {@link raisedTo} are the same rule in SQL. `at`: epoch microseconds.
 */
export function raise(
  message: LockedMessage,
  rank: number,
  at: number,
  errorCode: string | null,
): StatusChange | undefined {
  if (rank <= message.status) return undefined;
  const previous = message.status;
  message.status = rank;
  message.error_code = errorCode;
  const announced = rank >= FIRST_REPORTED_RANK;
  if (announced) message.sequence++;
  return {
    message,
    submission: message.submission,
    previous,
    status: rank,
    sequence: announced ? message.sequence : 0,
    errorCode,
    at,
  };
}

/** An event has a number among the changes and leaves the status as it is. */
export function announce(
  message: LockedMessage,
  event: string,
  at: number,
  errorCode: string | null,
): StatusChange {
  message.sequence++;
  const { submission, status, sequence } = message;
  return { message, submission, previous: status, status, sequence, errorCode, at, event };
}

/** SQL condition of the status rule; not true where `rank` is null. */
export function isBelow(message: string, rank: string): string {
  return `${message}.status < ${rank}`;
}

export function nextSequence(message: string): string {
  return `${message}.sequence + 1`;
}

/** SQL assignments of the status rule, for announced statuses. */
export function raisedTo(message: string, rank: string, errorCode: string): string {
  return `status = ${rank}, sequence = ${nextSequence(message)}, error_code = ${errorCode}`;
}
