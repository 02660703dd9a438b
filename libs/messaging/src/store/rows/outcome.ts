import { STATUS_RANK } from '../../message/status.js';
import type { Submission } from '../../ports/message-transport.js';
import type { Columns } from '../database/dialect.js';
import { type LockedMessage, raise, type StatusChange } from './status.js';

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
  /** The app's spend guard accepted the batch. */
  readonly guarded: boolean;
  /** The submission contains all messages of its batch: once accepted, the batch is complete. */
  readonly whole: boolean;
}

/** A number that a message was sent to, and the number by which the platform knows its person. */
export interface LearntNumber {
  readonly tenant: string;
  readonly recipient: string;
  readonly knownAs: string;
}

/** The submission that an outcome is about. */
interface SubmissionOrigin {
  readonly batch: string;
  readonly n: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly provider: string;
  /** The fence under which the request started: only its holder may set messages back. */
  readonly fence: number;
}

/** Why the messages of a submission are not accepted. */
interface SubmissionReason {
  readonly errorCode: string;
  /** The provider's words, shortened. */
  readonly errorText?: string;
}

type Details = Readonly<Record<string, string | number | null>>;

/** Error codes by position. */
type RefusedMembers = ReadonlyMap<number, string>;

/** The provider has the submission. */
export interface AcceptedResult {
  readonly result: 'accepted';
  /** `undefined` where only the provider's reports prove the acceptance, and they name none. */
  readonly reference: string | undefined;
  /** Known messages are not read again. */
  readonly intended?: IntendedMessages;
  /** The provider's id by position. */
  readonly messageIds?: ReadonlyMap<number, string>;
  /** Recipients that were refused while the others were accepted. */
  readonly rejected?: RefusedMembers;
  /** Such recipients that another provider gets. */
  readonly returned?: RefusedMembers;
  /** With `returned`: providers that refused them; replaces the list before. */
  readonly refusedBy?: string;
  /** Passed on after the commit. */
  readonly learnt?: readonly LearntNumber[];
  readonly details?: Details;
}

/** The provider, a policy or the library refuses the messages for good. */
export interface RejectedResult extends SubmissionReason {
  readonly result: 'rejected';
  /** Status of the messages. @default rejected */
  readonly status?: string;
  readonly details?: Details;
  /** Requests so far, where this one did not start. */
  readonly attempts?: number;
}

/** Definitely not accepted: the messages are sent again later, or by another provider, or `failed`. */
export interface RefusedResult extends SubmissionReason {
  readonly result: 'refused';
  /** Failures that count against `maxAttempts`, stored with the messages. */
  readonly countedFailures: number;
  /** No attempt is left: the messages are `failed`. */
  readonly exhausted: boolean;
  /** Milliseconds for which the messages, not their batch, are deferred; 0: they are not. */
  readonly deferFor: number;
  /** The provider defers this recipient alone, which is an event of some channels. */
  readonly deferred: boolean;
  /** Providers that refused the messages; replaces the list before. */
  readonly refusedBy?: string;
  readonly details?: Details;
}

/** The provider may have the submission. */
export interface UnknownResult extends SubmissionReason {
  readonly result: 'unknown';
  /** Reference that the provider knows the submission by, where it is ours. */
  readonly reference?: string;
  /** Requests so far, where this one did not start. */
  readonly attempts?: number;
}

/** Planned again: the submission did not start. */
export interface WithdrawnResult {
  readonly result: 'withdrawn';
  /** Requests so far. */
  readonly attempts: number;
  /** Milliseconds for which the batch is deferred; 0: it is not. */
  readonly deferBatchFor: number;
}

/** The validity of the messages is over. */
export interface ExpiredResult extends Partial<SubmissionReason> {
  readonly result: 'expired';
  readonly details?: Details;
  /** Requests so far, where this one did not start. */
  readonly attempts?: number;
}

/** The recipients were erased before the start. */
export interface CancelledResult extends SubmissionReason {
  readonly result: 'cancelled';
  /** Requests so far. */
  readonly attempts?: number;
}

/** Result of a submission that never starts. */
export type SkippedResult = RejectedResult | UnknownResult | ExpiredResult | CancelledResult;

export type SubmissionResult = AcceptedResult | RefusedResult | WithdrawnResult | SkippedResult;

/** A fact is recorded regardless of the lane's current holder. */
export type Outcome = SubmissionOrigin & SubmissionResult;

/** The outcome with the result, such as `OutcomeOf<'refused'>`. */
export type OutcomeOf<R extends Outcome['result']> = Extract<Outcome, { readonly result: R }>;

/** An acceptance with known messages: the most frequent outcome. */
export type PlainOutcome = OutcomeOf<'accepted'> & { readonly intended: IntendedMessages };

export function isPlain(outcome: Outcome): outcome is PlainOutcome {
  if (outcome.result !== 'accepted') return false;
  const { intended, rejected, returned, messageIds } = outcome;
  return (
    intended !== undefined &&
    !rejected?.size &&
    !returned?.size &&
    (!messageIds?.size || intended.positions.length === 1)
  );
}

/** Whether the result sets messages, or some of them, back to `queued`. */
export function setsBack<T extends SubmissionResult>(
  outcome: T,
): outcome is Extract<T, RefusedResult | WithdrawnResult | AcceptedResult> {
  switch (outcome.result) {
    case 'refused':
    case 'withdrawn':
      return true;
    case 'accepted':
      return (outcome.returned?.size ?? 0) > 0;
    case 'rejected':
    case 'unknown':
    case 'expired':
    case 'cancelled':
      return false;
  }
}

/** The provider's, or our, reference of the submission. */
export function referenceOf(outcome: Outcome): string | undefined {
  return outcome.result === 'accepted' || outcome.result === 'unknown'
    ? outcome.reference
    : undefined;
}

/** Code and words of an outcome other than an acceptance or a withdrawal. */
export function reasonOf(outcome: Outcome): Partial<SubmissionReason> {
  return outcome.result === 'accepted' || outcome.result === 'withdrawn' ? NO_REASON : outcome;
}

const NO_REASON: Partial<SubmissionReason> = {};

/** Details of an acceptance or of a refusal. */
export function detailsOfOutcome(outcome: Outcome): Details | undefined {
  switch (outcome.result) {
    case 'accepted':
    case 'rejected':
    case 'refused':
    case 'expired':
      return outcome.details;
    case 'unknown':
    case 'withdrawn':
    case 'cancelled':
      return undefined;
  }
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
  v_reference: ['key', ({ outcome }) => referenceOf(outcome)],
  v_details: ['text', ({ outcome }) => textOf(detailsOfOutcome(outcome))],
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

function textOf(details: Details | undefined): string | undefined {
  return details && JSON.stringify(details);
}

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
  const { batch, n, intended, messageIds, provider } = outcome;
  const { tenant, channel, sender, recipients, deliveryReport, labels } = intended.submission;
  return intended.positions.map((position, member) => {
    const message: LockedMessage = {
      batch,
      position,
      recipient: recipients[member] as string,
      tenant,
      channel,
      sender,
      delivery_report: deliveryReport ? 1 : 0,
      labelled: labels ? 1 : 0,
      guarded: intended.guarded ? 1 : 0,
      // An acceptance ends no step: see `OutcomeRecorder`.
      notification: null,
      recipient_count: 0,
      submission: n,
      status: STATUS_RANK.sending,
      sequence: 0,
      error_code: null,
      reference: messageIds?.get(position) ?? null,
    };
    return { ...(raise(message, status, at, null) as StatusChange), provider };
  });
}
