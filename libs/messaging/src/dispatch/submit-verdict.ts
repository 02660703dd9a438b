import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
  UncertainFailure,
} from '../message/failures.js';
import { identifier, word } from '../message/report-fields.js';
import type { Outcome } from '../store/outcome.js';
import type { SubmissionAccepted } from '../ports/message-transport.js';
import type { Ready } from './slice.js';

export interface Verdict {
  readonly kind: 'retryable' | 'paused' | 'permanent' | 'uncertain';
  readonly code: string;
  /** For people; with `paused`, what to do about it. */
  readonly message: string;
  /** Milliseconds. */
  readonly retryAfter?: number;
}

/** The meaning of what `submit()` threw; whatever says nothing of its meaning is uncertain. */
export function verdictOf(error: unknown): Verdict {
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
  kind: Verdict['kind'],
  failure: PausedFailure | RetryableFailure | UncertainFailure,
): Verdict {
  const { message, retryAfter } = failure;
  // A wish for no wait at all is no reason to hammer.
  const waits = retryAfter !== undefined && Number.isFinite(retryAfter) && retryAfter > 0;
  return { kind, code: codeOf(failure), message, ...(waits && { retryAfter }) };
}

/** As the store can store it. */
function codeOf({ code }: SubmitFailure): string {
  return word(code) ?? 'transport_error';
}

/**
 * An accepted submission, member by member where the answer says more of some. What cannot be stored
 * is left out: the acceptance counts.
 *
 * @throws TypeError where the answer is none
 */
export function outcomeOf(
  { positions, submission }: Ready,
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
