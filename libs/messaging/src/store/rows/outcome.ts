import { STATUS_RANK } from '../../message/status.js';
import type { Submission } from '../../ports/message-transport.js';
import type { Columns } from '../database/dialect.js';
import { type HeldMessage, raise, type StatusChange } from './status.js';

/** `null` in the store: still open. */
export const SUBMISSION_OUTCOME = {
  accepted: 1,
  rejected: 2,
  /** Definitely not accepted: its messages become `queued` again, or `failed`. */
  refused: 3,
  /** The provider's response was never received. */
  unknown: 4,
  /** Never started: its messages become `queued` again. */
  withdrawn: 5,
  /** Its validity ended before it could start. */
  expired: 6,
  /** Never started: its recipients were erased. */
  cancelled: 7,
} as const;

/** SQL assignments of an acceptance to its submission. */
export const SUBMISSION_ACCEPTED = `outcome = ${SUBMISSION_OUTCOME.accepted}, reference = v_reference,
  error_code = NULL, error_text = NULL, details = v_details, finished_at = v_at`;

export const INTO_SUBMIT_LOG = `INSERT INTO messaging_report (tenant, batch, position, provider, reference,
  message_id, recipient, status, raw_status, received_at, sequence)`;

export interface IntendedMessages {
  readonly positions: readonly number[];
  readonly submission: Pick<
    Submission,
    'tenant' | 'channel' | 'sender' | 'recipients' | 'deliveryReport' | 'attempt' | 'labels'
  >;
  /** The submission contains all messages of its batch: once accepted, the batch is complete. */
  readonly whole: boolean;
}

/** A fact is recorded regardless of the lane's current holder. */
export interface Outcome {
  readonly batch: string;
  readonly n: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly provider: string;
  /** The fence under which the request started: only its holder may set messages back. */
  readonly fence: number;
  readonly result: keyof typeof SUBMISSION_OUTCOME;
  /** Known messages are not read again. */
  readonly intended?: IntendedMessages;
  readonly reference?: string;
  /** The provider's id by position. */
  readonly messageIds?: ReadonlyMap<number, string>;
  /** Error codes, by position, of recipients that were refused while the others were accepted. */
  readonly rejected?: ReadonlyMap<number, string>;
  /**
   * Error codes, by position, of recipients that were refused while the others were accepted, and
   * that another provider gets.
   */
  readonly returned?: ReadonlyMap<number, string>;
  /** Providers that refused messages which go back to `queued`; replaces the list before. */
  readonly refusedBy?: string;
  readonly details?: Readonly<Record<string, string | number | null>>;
  readonly errorCode?: string;
  /** The provider's words, shortened. */
  readonly errorText?: string;
  /** With `rejected`: the status of the messages. @default rejected */
  readonly status?: string;
  /** With `refused`: milliseconds for which the messages, not their batch, wait. */
  readonly waitFor?: number;
  /** With `waitFor`: the provider defers this recipient alone, which is an event of some channels. */
  readonly deferred?: boolean;
  /** Requests so far, where this one did not start. */
  readonly attempts?: number;
  /** With `refused`: failures that count against `maxAttempts`, stored with the messages. */
  readonly countedFailures?: number;
  /** With `refused`: no attempt is left, the messages are `failed`. */
  readonly exhausted?: boolean;
  /** With `withdrawn`: milliseconds for which the batch is parked. */
  readonly parkFor?: number;
}

/** An acceptance with known messages: the most frequent outcome. */
export type PlainOutcome = Outcome & { readonly intended: IntendedMessages };

export function isPlain(outcome: Outcome): outcome is PlainOutcome {
  const { result, intended, rejected, returned, messageIds } = outcome;
  return (
    result === 'accepted' &&
    intended !== undefined &&
    !rejected?.size &&
    !returned?.size &&
    (!messageIds?.size || intended.positions.length === 1)
  );
}

/** As the fast paths write it; times in epoch microseconds. */
export interface Accepted {
  readonly outcome: PlainOutcome;
  /** Rank of the channel's status for accepted messages. */
  readonly status: number;
  readonly at: number;
  /** First poll for missing reports, once the batch is complete. */
  readonly pollAt: number;
}

/** The columns that the fast paths and the slow path share. */
export const OUTCOME = {
  v_batch: ['uuid', ({ outcome }) => outcome.batch],
  v_n: ['int', ({ outcome }) => outcome.n],
  v_first: ['int', ({ outcome }) => outcome.firstPosition],
  v_last: ['int', ({ outcome }) => outcome.lastPosition],
  v_reference: ['key', ({ outcome }) => outcome.reference],
  v_details: ['text', ({ outcome }) => outcome.details && JSON.stringify(outcome.details)],
  v_at: ['bigint', ({ at }) => at],
} satisfies Columns<{ readonly outcome: Outcome; readonly at: number }>;

export const ACCEPTED = {
  ...OUTCOME,
  v_message_id: ['key', ({ outcome }) => outcome.messageIds?.get(outcome.firstPosition)],
  v_tenant: ['key', ({ outcome }) => outcome.intended.submission.tenant],
  v_provider: ['key', ({ outcome }) => outcome.provider],
  v_status: ['int', ({ status }) => status],
  /** Null where the outcome does not complete its batch. */
  v_poll_at: ['bigint', ({ outcome, pollAt }) => (outcome.intended.whole ? pollAt : null)],
} satisfies Columns<Accepted>;

export function inLockOrder(
  a: Pick<Outcome, 'batch' | 'n'>,
  b: Pick<Outcome, 'batch' | 'n'>,
): number {
  if (a.batch !== b.batch) return a.batch < b.batch ? -1 : 1;
  return a.n - b.n;
}

export function messagesOf(accepted: readonly Accepted[]): number {
  return accepted.reduce((sum, { outcome }) => sum + outcome.intended.positions.length, 0);
}

export function acceptedChanges({ outcome, status, at }: Accepted): StatusChange[] {
  const { batch, intended, messageIds } = outcome;
  const { tenant, channel, sender, recipients, deliveryReport, labels } = intended.submission;
  return intended.positions.map((position, member) => {
    const message: HeldMessage = {
      batch,
      position,
      recipient: recipients[member] as string,
      tenant,
      channel,
      sender,
      delivery_report: deliveryReport === 'yes' ? 1 : 0,
      labelled: labels ? 1 : 0,
      // An acceptance ends no step: see `OutcomeRecorder`.
      notification: null,
      status: STATUS_RANK.sending,
      sequence: 0,
      error_code: null,
      reference: messageIds?.get(position) ?? null,
    };
    return raise(message, status, at, null) as StatusChange;
  });
}
