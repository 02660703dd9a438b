import {
  BouncedFailure,
  DeferredFailure,
  LostAnswerFailure,
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
  UnroutableFailure,
} from '../message/errors.js';
import { identifier, word } from '../message/report-fields.js';
import type { SubmissionAccepted } from '../ports/message-transport.js';
import type { Outcome } from '../store/rows/outcome.js';
import type { PreparedSubmission } from './submissions.js';

/** Most characters of a provider's words that are stored. */
const MOST_TEXT = 500;

const UNCERTAIN = { kind: 'retryable', uncertain: true } as const;

const MEANINGS = [
  [DeferredFailure, { kind: 'deferred', uncertain: false }],
  [PermanentFailure, { kind: 'permanent', uncertain: false }],
  [PausedFailure, { kind: 'paused', uncertain: false }],
  [LostAnswerFailure, { kind: 'lost', uncertain: true }],
  [PausedUncertainFailure, { kind: 'paused', uncertain: true }],
  [RetryableFailure, { kind: 'retryable', uncertain: false }],
] as const;

export interface Failure extends Pick<SubmitFailure, 'code' | 'message'> {
  readonly kind: (typeof MEANINGS)[number][1]['kind'];
  /** True for a permanent failure where another provider may take the submission. */
  readonly unroutable?: boolean;
  /** The provider may have accepted the submission. */
  readonly uncertain: boolean;
  /** Wait that the provider asked for, in milliseconds. */
  readonly retryAfter?: number;
  /** Milliseconds after which a deferred message expires. */
  readonly giveUpAfter?: number;
  /** Status of a message that ends. */
  readonly status?: string;
  readonly details?: Readonly<Record<string, string | number | null>>;
}

/**
 * Reads an error of `submit()`. An error that is none of the known failures is uncertain; its own
 * message may hold a body or a token, so that only its class is kept.
 */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof SubmitFailure)) {
    const message =
      error === undefined
        ? 'The transport did not answer in time, not even to its abort signal'
        : `The transport threw ${classOf(error)}`;
    return { ...UNCERTAIN, code: 'transport_error', message };
  }
  const [, meaning = UNCERTAIN] = MEANINGS.find(([failure]) => error instanceof failure) ?? [];
  const { message, retryAfter = 0 } = error;
  // A wait that is zero or no number leaves the wait to the library's backoff.
  const isWait = Number.isFinite(retryAfter) && retryAfter > 0;
  const code = word(error.code) ?? 'transport_error';
  return {
    ...meaning,
    code,
    message,
    ...(isWait && { retryAfter }),
    ...(error instanceof UnroutableFailure && { unroutable: true }),
    ...(error instanceof DeferredFailure && { giveUpAfter: error.giveUpAfter }),
    ...(error instanceof BouncedFailure && { status: error.status }),
    ...((error instanceof BouncedFailure || error instanceof DeferredFailure) &&
      error.details && { details: detailsOf(error.details) }),
  };
}

function classOf(error: unknown): string {
  if (!(error instanceof Error)) return `a value of the type ${typeof error}`;
  // Code can set the name to any text.
  const name = /^[A-Za-z_$][\w$]{0,63}$/.test(error.name) ? error.name : 'Error';
  return `${name}; the log has its stack`;
}

/** Code and words of a failure as the store keeps them. */
export function factsOf({
  code,
  message,
}: Pick<Failure, 'code' | 'message'>): Required<Pick<Outcome, 'errorCode' | 'errorText'>> {
  const errorText = message
    .slice(0, 2 * MOST_TEXT)
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .slice(0, MOST_TEXT);
  return { errorCode: code, errorText };
}

/**
 * Leaves out details that the store cannot keep, so that the acceptance is still recorded.
 * @param refusedBy set where another provider takes the recipients that this one cannot reach
 */
export function acceptanceOf(
  { positions, submission }: PreparedSubmission,
  accepted: SubmissionAccepted,
  refusedBy?: string,
): Pick<
  Outcome,
  'result' | 'reference' | 'messageIds' | 'rejected' | 'returned' | 'refusedBy' | 'details'
> {
  const result = { result: 'accepted' as const, reference: accepted.reference };
  if (!accepted.messageIds && !accepted.rejected && !accepted.details) return result;
  const details = detailsOf(accepted.details);
  const messageIds = new Map<number, string>();
  const rejected = new Map<number, string>();
  const returned = new Map<number, string>();
  positions.forEach((position, member) => {
    const id = identifier(accepted.messageIds?.[member]);
    if (id !== null) messageIds.set(position, id);
    const recipient = submission.recipients[member] as string;
    if (!accepted.rejected?.has(recipient)) return;
    const goesOn = refusedBy !== undefined && accepted.unroutable?.has(recipient);
    const refused = goesOn ? returned : rejected;
    refused.set(position, word(accepted.rejected.get(recipient)) ?? 'rejected');
  });
  return {
    ...result,
    ...(messageIds.size > 0 && { messageIds }),
    ...(rejected.size > 0 && { rejected }),
    ...(returned.size > 0 && { returned, refusedBy }),
    ...(details && { details }),
  };
}

/** The details that the store can keep; `undefined` where none is left. */
function detailsOf(given: SubmissionAccepted['details']): SubmissionAccepted['details'] {
  const isDetail = (value: unknown) =>
    value === null || Number.isFinite(value) || identifier(value) !== null;
  const entries = Object.entries(typeof given === 'object' ? given : {}).filter(
    ([name, value]) => identifier(name) !== null && isDetail(value),
  );
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
