import type { Submission } from '../ports/message-transport.js';
import type { StatusChange } from './status.js';

/** What became of a submission; `null` in the store: still open. */
export const SUBMISSION_OUTCOME = {
  accepted: 1,
  rejected: 2,
  /** Definitely not accepted: its messages are queued again, or `failed`. */
  refused: 3,
  /** Never learned. */
  unknown: 4,
  /** Never started: its messages are queued again. */
  withdrawn: 5,
  /** Its time was over before it could start. */
  expired: 6,
} as const;

/** The messages of a submission, as whoever intended them knows them. */
export interface IntendedMessages {
  readonly positions: readonly number[];
  readonly submission: Pick<
    Submission,
    'tenant' | 'channel' | 'sender' | 'recipients' | 'deliveryReport'
  >;
  /** It is all there is of its batch: once it is accepted, the batch is complete. */
  readonly whole: boolean;
}

/** What became of one submission: a fact, whoever holds the lane by now. */
export interface Outcome {
  readonly batch: string;
  readonly n: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly provider: string;
  /** The fence the request was started under: only its holder may set messages back. */
  readonly fence: number;
  readonly result: keyof typeof SUBMISSION_OUTCOME;
  /** What need not be read again, where it is known. */
  readonly intended?: IntendedMessages;
  readonly reference?: string;
  /** The provider's id by position. */
  readonly messageIds?: ReadonlyMap<number, string>;
  /** Codes by position of recipients refused while the others were accepted. */
  readonly rejected?: ReadonlyMap<number, string>;
  readonly details?: Readonly<Record<string, string | number | null>>;
  readonly errorCode?: string;
  /** With `refused`: attempts used up so far; the messages keep it. */
  readonly attempts?: number;
  /** With `refused`: no attempt is left, the messages are `failed`. */
  readonly exhausted?: boolean;
  /** With `refused`: milliseconds the batch is left aside, so that others may pass. */
  readonly parkFor?: number;
}

/** An acceptance of messages known from their intent: by far the most of all outcomes. */
export type PlainOutcome = Outcome & { readonly intended: IntendedMessages };

export function isPlain(outcome: Outcome): outcome is PlainOutcome {
  const { result, intended, rejected, messageIds } = outcome;
  return (
    result === 'accepted' &&
    intended !== undefined &&
    !rejected?.size &&
    (!messageIds?.size || intended.positions.length === 1)
  );
}

/** The result of recording acceptances. */
export interface SettledOutcomes {
  /** Built lazily: usually there are no listeners. */
  readonly changes: () => readonly StatusChange[];
  /** Batches that are complete with it. */
  readonly completed: readonly PlainOutcome[];
  /** Another outcome or report of them was recorded before: they need the slow path. */
  readonly missed: readonly PlainOutcome[];
}
