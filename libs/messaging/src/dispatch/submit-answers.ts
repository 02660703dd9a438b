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
import { addressIdentity } from '../message/phone-identity.js';
import { isPhoneNumber } from '../message/phone-number.js';
import { identifier, recipientNumber, word } from '../message/report-fields.js';
import type { Submission, SubmissionAccepted } from '../ports/message-transport.js';
import type { AcceptedResult, LearntNumber } from '../store/rows/outcome.js';
import { isSecret } from '../store/rows/stored-content.js';
import type { PreparedSubmission, SubmissionDoubt } from './submissions.js';

/** Most characters of a provider's words that are stored. */
const MOST_TEXT = 500;

/** Code of a failure that asks to send more slowly. */
export const THROTTLED = 'throttled';

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
  readonly details?: Details | undefined;
}

/** Digits of a code, also in groups. */
const CODE = /\d(?:[ -]?\d){3,}/g;

type Details = Readonly<Record<string, string | number | null>>;

/** Replaces what the words of a provider repeat of a one-time code. */
function withoutCode({ content }: Pick<Submission, 'content'>): (words: string) => string {
  if (!isSecret(content)) return (words) => words;
  const codes = JSON.stringify(content).match(CODE) ?? [];
  return (words) => codes.reduce((left, code) => left.replaceAll(code, '…'), words);
}

/**
 * Reads an error of `submit()`. An error that is none of the known failures is uncertain; its own
 * message may hold a body or a token, so that only its class is kept.
 */
export function failureOf(error: unknown, submission: Pick<Submission, 'content'>): Failure {
  if (!(error instanceof SubmitFailure)) {
    const message =
      error === undefined
        ? 'The transport did not answer in time, not even to its abort signal'
        : `The transport threw ${classOf(error)}`;
    return { ...UNCERTAIN, code: 'transport_error', message };
  }
  const [, meaning = UNCERTAIN] = MEANINGS.find(([failure]) => error instanceof failure) ?? [];
  const { retryAfter = 0 } = error;
  // A wait that is zero or no number leaves the wait to the library's backoff.
  const isWait = Number.isFinite(retryAfter) && retryAfter > 0;
  const code = word(error.code) ?? 'transport_error';
  return {
    ...meaning,
    code,
    message: withoutCode(submission)(error.message),
    ...(isWait && { retryAfter }),
    ...(error instanceof UnroutableFailure && { unroutable: true }),
    ...(error instanceof DeferredFailure && { giveUpAfter: error.giveUpAfter }),
    ...(error instanceof BouncedFailure && { status: error.status }),
    ...((error instanceof BouncedFailure || error instanceof DeferredFailure) &&
      error.details && { details: detailsOf(error.details, submission) }),
  };
}

function classOf(error: unknown): string {
  if (!(error instanceof Error)) return `a value of the type ${typeof error}`;
  // Code can set the name to any text.
  const name = /^[A-Za-z_$][\w$]{0,63}$/.test(error.name) ? error.name : 'Error';
  return `${name}; the log has its stack`;
}

/** Code and words of a failure as the store keeps them. */
export function factsOf({ code, message }: Pick<Failure, 'code' | 'message'>): SubmissionDoubt {
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
  intended: PreparedSubmission,
  accepted: SubmissionAccepted,
  refusedBy?: string,
): AcceptedResult {
  const { positions, submission } = intended;
  const result: AcceptedResult = { result: 'accepted', reference: accepted.reference, intended };
  const { messageIds: given, rejected: refusals, knownAs, details: data } = accepted;
  if (!given && !refusals && !knownAs && !data) return result;
  const learnt = learntOf(submission, knownAs);
  const details = detailsOf(accepted.details, submission);
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
    ...(learnt.length > 0 && { learnt }),
    ...(details && { details }),
  };
}

/** Leaves out what is no number, and other forms of the same number. */
function learntOf(
  { tenant, recipients }: Submission,
  knownAs: SubmissionAccepted['knownAs'],
): LearntNumber[] {
  if (!((knownAs as unknown) instanceof Map)) return [];
  return recipients.flatMap((recipient) => {
    const number = recipientNumber(knownAs?.get(recipient));
    const isLearnt =
      number !== null &&
      isPhoneNumber(recipient) &&
      addressIdentity(number) !== addressIdentity(recipient);
    return isLearnt ? [{ tenant, recipient, knownAs: number }] : [];
  });
}

/** The details that the store can keep; `undefined` where none is left. */
function detailsOf(
  given: Details | undefined,
  submission: Pick<Submission, 'content'>,
): Details | undefined {
  const words = withoutCode(submission);
  const entries = Object.entries(typeof given === 'object' ? given : {}).flatMap(
    ([name, value]): [string, string | number | null][] => {
      if (identifier(name) === null) return [];
      if (typeof value === 'string' && identifier(value) !== null) return [[name, words(value)]];
      return value === null || Number.isFinite(value) ? [[name, value]] : [];
    },
  );
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
