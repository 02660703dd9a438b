import { STATUS_RANK } from '../../message/status.js';
import type { Submission } from '../../ports/message-transport.js';
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
} as const;

export interface IntendedMessages {
  readonly positions: readonly number[];
  readonly submission: Pick<
    Submission,
    'tenant' | 'channel' | 'sender' | 'recipients' | 'deliveryReport'
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
  readonly details?: Readonly<Record<string, string | number | null>>;
  readonly errorCode?: string;
  /** With `refused`: attempts used so far, stored with the messages. */
  readonly attempts?: number;
  /** With `refused`: no attempt is left, the messages are `failed`. */
  readonly exhausted?: boolean;
  /** With `refused`: milliseconds for which the batch is parked. */
  readonly parkFor?: number;
}

/** An acceptance with known messages: the most frequent outcome. */
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

export interface SettledOutcomes {
  /** Built lazily: usually there are no listeners. */
  readonly changes: () => readonly StatusChange[];
  readonly completed: readonly PlainOutcome[];
  /** Outcomes to record again by the slow path: some of their rows were not as assumed. */
  readonly missed: readonly PlainOutcome[];
}

export function inLockOrder(
  a: Pick<Outcome, 'batch' | 'n'>,
  b: Pick<Outcome, 'batch' | 'n'>,
): number {
  if (a.batch !== b.batch) return a.batch < b.batch ? -1 : 1;
  return a.n - b.n;
}

export function messagesOf(outcomes: readonly PlainOutcome[]): number {
  return outcomes.reduce((sum, { intended }) => sum + intended.positions.length, 0);
}

/** `isRaised('{batch}-{position}')`: false where a report came first; `at`: epoch microseconds. */
export function acceptedChanges(
  outcomes: readonly PlainOutcome[],
  at: number,
  acceptedRankOf: (channel: string) => number,
  isRaised: (place: string) => boolean = () => true,
): StatusChange[] {
  const changes: StatusChange[] = [];
  for (const outcome of outcomes) {
    const { batch, intended, messageIds } = outcome;
    const { positions, submission } = intended;
    const status = acceptedRankOf(submission.channel);
    positions.forEach((position, member) => {
      if (!isRaised(`${batch}-${position}`)) return;
      const message: HeldMessage = {
        batch,
        position,
        recipient: submission.recipients[member] as string,
        tenant: submission.tenant,
        channel: submission.channel,
        sender: submission.sender,
        delivery_report: submission.deliveryReport === 'yes' ? 1 : 0,
        status: STATUS_RANK.sending,
        sequence: 0,
        error_code: null,
        reference: messageIds?.get(position) ?? null,
      };
      changes.push(raise(message, status, at, null) as StatusChange);
    });
  }
  return changes;
}
