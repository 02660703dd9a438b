import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
  UncertainFailure,
} from '../message/errors.js';
import { identifier, word } from '../message/report-fields.js';
import type { Outcome } from '../store/rows/outcome.js';
import type { SubmissionAccepted } from '../ports/message-transport.js';
import type { PreparedSubmission } from './submissions.js';

export interface SubmitFailureRecord {
  /**
   * `retryable`: nothing was sent. `paused`: the provider refuses all messages. `permanent`: it
   * never accepts this submission. `uncertain`: the outcome is unknown.
   */
  readonly kind: 'retryable' | 'paused' | 'permanent' | 'uncertain';
  readonly code: string;
  /** Text for operators; with `paused`, it gives the remedy. */
  readonly message: string;
  /** Wait that the provider asked for, in milliseconds. */
  readonly retryAfter?: number;
}

const KINDS = [
  [PermanentFailure, 'permanent'],
  [PausedFailure, 'paused'],
  [RetryableFailure, 'retryable'],
  [UncertainFailure, 'uncertain'],
] as const;

/** Converts an error of `submit()`. An error that is none of the four failures is uncertain. */
export function failureOf(error: unknown): SubmitFailureRecord {
  const code = (error instanceof SubmitFailure ? word(error.code) : null) ?? 'transport_error';
  for (const [failure, kind] of KINDS)
    if (error instanceof failure) {
      const { message, retryAfter = 0 } = error;
      // Where the wait is zero or no number, the backoff of the library applies.
      const waits = Number.isFinite(retryAfter) && retryAfter > 0;
      return { kind, code, message, ...(waits && { retryAfter }) };
    }
  const message = 'The transport failed without saying what became of the request';
  return { kind: 'uncertain', code, message };
}

/**
 * Leaves out values that the store cannot keep, so that the acceptance is still recorded.
 * @throws TypeError for an answer that is no object
 */
export function acceptanceOf(
  { positions, submission }: PreparedSubmission,
  accepted: SubmissionAccepted,
): Pick<Outcome, 'result' | 'reference' | 'messageIds' | 'rejected' | 'details'> {
  if (typeof accepted !== 'object' || accepted === null)
    throw new TypeError('submit() resolved with no answer');
  const reference = identifier(accepted.reference);
  const result = { result: 'accepted' as const, ...(reference !== null && { reference }) };
  if (!accepted.messageIds && !accepted.rejected && !accepted.details) return result;
  const given = typeof accepted.details === 'object' ? accepted.details : {};
  const details = Object.entries(given).filter(
    ([name, value]) => identifier(name) !== null && isDetail(value),
  );
  const messageIds = new Map<number, string>();
  const rejected = new Map<number, string>();
  positions.forEach((position, member) => {
    const id = identifier(accepted.messageIds?.[member]);
    if (id !== null) messageIds.set(position, id);
    const recipient = submission.recipients[member] as string;
    if (accepted.rejected?.has(recipient))
      rejected.set(position, word(accepted.rejected.get(recipient)) ?? 'rejected');
  });
  return {
    ...result,
    ...(messageIds.size > 0 && { messageIds }),
    ...(rejected.size > 0 && { rejected }),
    ...(details.length > 0 && { details: Object.fromEntries(details) }),
  };
}

function isDetail(value: unknown): boolean {
  return value === null || Number.isFinite(value) || identifier(value) !== null;
}
