import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
  UncertainFailure,
} from '../message/failures.js';
import { identifier, word } from '../message/report-fields.js';
import type { Outcome } from '../store/rows/outcome.js';
import type { SubmissionAccepted } from '../ports/message-transport.js';
import type { PreparedSubmission } from './submissions.js';

/**
 * Meaning of a failed submit: nothing was sent (`retryable`), the provider refuses all messages (`paused`), the
 * provider never accepts this submission (`permanent`), or the outcome is unknown (`uncertain`).
 */
export type SubmitFailureKind = 'retryable' | 'paused' | 'permanent' | 'uncertain';

export interface SubmitFailureRecord {
  readonly kind: SubmitFailureKind;
  readonly code: string;
  /** Text for operators; with `paused`, it gives the remedy. */
  readonly message: string;
  /** Wait that the provider asked for, in milliseconds. */
  readonly retryAfter?: number;
}

/** Converts an error of `submit()`. An error that is no {@link SubmitFailure} is uncertain. */
export function failureOf(error: unknown): SubmitFailureRecord {
  if (error instanceof PermanentFailure)
    return { kind: 'permanent', code: codeOf(error), message: error.message };
  if (error instanceof PausedFailure) return withRetryAfter('paused', error);
  if (error instanceof RetryableFailure) return withRetryAfter('retryable', error);
  if (error instanceof UncertainFailure) return withRetryAfter('uncertain', error);
  return {
    kind: 'uncertain',
    code: error instanceof SubmitFailure ? codeOf(error) : 'transport_error',
    message: 'The transport failed without saying what became of the request',
  };
}

function withRetryAfter(
  kind: SubmitFailureKind,
  failure: PausedFailure | RetryableFailure | UncertainFailure,
): SubmitFailureRecord {
  const { message, retryAfter } = failure;
  // Where the wait is zero or no number, the backoff of the library applies.
  const waits = retryAfter !== undefined && Number.isFinite(retryAfter) && retryAfter > 0;
  return { kind, code: codeOf(failure), message, ...(waits && { retryAfter }) };
}

/** The code, cut to the length that the store keeps. */
function codeOf({ code }: SubmitFailure): string {
  return word(code) ?? 'transport_error';
}

/**
 * Reads the answer to an accepted submission, with the ids, refusals and details that it gives. Values that the store
 * cannot keep are left out, so that the acceptance is still recorded.
 *
 * @throws TypeError for an answer that is no object
 */
export function acceptanceOf(
  { positions, submission }: PreparedSubmission,
  accepted: SubmissionAccepted,
): Pick<Outcome, 'result' | 'reference' | 'messageIds' | 'rejected' | 'details'> {
  if (typeof accepted !== 'object' || accepted === null)
    throw new TypeError('submit() resolved with no answer');
  const reference = identifier(accepted.reference);
  if (!accepted.messageIds && !accepted.rejected && !accepted.details && reference !== null)
    return { result: 'accepted', reference };
  const details = detailsOf(accepted.details);
  const messageIds = messageIdsOf(positions, accepted.messageIds);
  const rejected = rejectedOf(positions, submission.recipients, accepted.rejected);
  return {
    result: 'accepted',
    ...(reference !== null && { reference }),
    ...(messageIds.size > 0 && { messageIds }),
    ...(rejected.size > 0 && { rejected }),
    ...(details.length > 0 && { details: Object.fromEntries(details) }),
  };
}

function detailsOf(details: unknown): [string, string | number | null][] {
  if (typeof details !== 'object' || details === null) return [];
  return Object.entries(details).filter(
    (entry): entry is [string, string | number | null] =>
      identifier(entry[0]) !== null && isDetail(entry[1]),
  );
}

function isDetail(value: unknown): boolean {
  return value === null || Number.isFinite(value) || identifier(value) !== null;
}

function messageIdsOf(
  positions: readonly number[],
  messageIds: readonly string[] = [],
): Map<number, string> {
  const ids = new Map<number, string>();
  positions.forEach((position, index) => {
    const id = identifier(messageIds[index]);
    if (id !== null) ids.set(position, id);
  });
  return ids;
}

function rejectedOf(
  positions: readonly number[],
  recipients: readonly string[],
  rejected: ReadonlyMap<string, string> = new Map(),
): Map<number, string> {
  const codes = new Map<number, string>();
  recipients.forEach((recipient, index) => {
    if (rejected.has(recipient))
      codes.set(positions[index] as number, word(rejected.get(recipient)) ?? 'rejected');
  });
  return codes;
}
