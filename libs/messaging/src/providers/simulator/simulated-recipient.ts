import { hash } from 'node:crypto';
import { addressOfKey } from '../../message/address.js';
import type { DeliveryReport } from '../../message/events.js';
import type { Submission } from '../../ports/message-transport.js';
import type { SimulatedOutcome, SimulatedReport, Simulation } from './simulation.js';

/**
 * All reports for one recipient, derived from data that a resend repeats: after a restart they have
 * the same times, so that a repeat is recognised. Times lie within 50 ms after the first start.
 */
export interface SimulatedRecipient {
  readonly course: SimulatedOutcome['course'];
  /** One of 16 random values from 0 to 1; spreads reports over time. */
  readonly jitter: number;
  /** Report of a message on its way; only `disordered` sends it. */
  readonly underway: DeliveryReport;
  /** Precedes the final report. */
  readonly first: DeliveryReport | undefined;
  readonly final: DeliveryReport;
  /** Follows the final report, where the channel has such a status. */
  readonly followUp: DeliveryReport | undefined;
}

/** What a submission, or a poll for it, tells of each of its recipients. */
export interface SimulatedSubmission
  extends Pick<Submission, 'id' | 'firstSentAt' | 'attempt'>, Partial<Pick<Submission, 'content'>> {
  readonly reference: string;
}

export function simulatedRecipient(
  recipient: string,
  submission: SimulatedSubmission,
  { outcomeOf, underway, followUp }: Simulation,
): SimulatedRecipient {
  const { id, firstSentAt, reference } = submission;
  const outcome = outcomeOf(addressOfKey(recipient), submission);
  const dice = hash('sha256', `${id} ${recipient}`, 'buffer');
  const sentAt = firstSentAt.getTime() + ((dice[0] ?? 0) % 10);
  const endedAt = sentAt + 1 + ((dice[1] ?? 0) % 40);
  const reportOf = (
    { status, rawStatus, errorCode, details }: SimulatedReport,
    at: number,
  ): DeliveryReport => ({
    reference,
    messageId: null,
    recipient,
    status,
    rawStatus,
    errorCode: errorCode ?? null,
    providerTime: new Date(at),
    details: typeof details === 'function' ? details(new Date(endedAt)) : details,
  });
  const next = outcome.later ?? (followUp?.after === outcome.status ? followUp : undefined);
  return {
    course: outcome.course,
    jitter: ((dice[2] ?? 0) % 16) / 15,
    underway: reportOf(underway, sentAt),
    first: outcome.before && reportOf(outcome.before, sentAt),
    final: reportOf(outcome, endedAt),
    followUp: next && reportOf(next, endedAt + 1),
  };
}

export function platformIdOf(prefix: string, submissionId: string, recipient: string): string {
  return prefix + hash('sha256', `${submissionId} ${recipient}`, 'base64url').slice(0, 32);
}

export function referenceOf(submissionId: string): string {
  return `sim-${hash('sha256', submissionId, 'hex').slice(0, 32)}`;
}
