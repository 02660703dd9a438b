import { hash } from 'node:crypto';
import { addressOfKey } from '../../message/address.js';
import type { SimulatedFate, Simulation } from '../../message/channel-definition.js';
import type { DeliveryReport } from '../../message/events.js';

/**
 * All reports for one recipient, derived from data that a resend repeats: after a restart they have
 * the same times, so that a repeat is recognised. Times lie within 50 ms after the first start.
 */
export interface SimulatedRecipient {
  readonly course: SimulatedFate['course'];
  /** One of 16 random values from 0 to 1; spreads reports over time. */
  readonly jitter: number;
  /** Report of a message on its way; only `disordered` sends it. */
  readonly underway: DeliveryReport;
  readonly final: DeliveryReport;
  /** Follows the final report, where the channel has such a status. */
  readonly followUp: DeliveryReport | undefined;
}

export function simulatedRecipient(
  submissionId: string,
  recipient: string,
  firstSentAt: Date,
  { fateOf, underway, followUp }: Simulation,
): SimulatedRecipient {
  const { course, status, rawStatus, errorCode = null } = fateOf(addressOfKey(recipient));
  const dice = hash('sha256', `${submissionId} ${recipient}`, 'buffer');
  const sentAt = firstSentAt.getTime() + ((dice[0] ?? 0) % 10);
  const endedAt = sentAt + 1 + ((dice[1] ?? 0) % 40);
  const report = { reference: referenceOf(submissionId), messageId: null, recipient };
  return {
    course,
    jitter: ((dice[2] ?? 0) % 16) / 15,
    underway: { ...report, ...underway, errorCode: null, providerTime: new Date(sentAt) },
    final: { ...report, status, rawStatus, errorCode, providerTime: new Date(endedAt) },
    followUp:
      followUp?.after === status
        ? {
            ...report,
            status: followUp.status,
            rawStatus: followUp.rawStatus,
            errorCode: null,
            providerTime: new Date(endedAt + 1),
          }
        : undefined,
  };
}

export function platformIdOf(prefix: string, submissionId: string, recipient: string): string {
  return prefix + hash('sha256', `${submissionId} ${recipient}`, 'base64url').slice(0, 32);
}

export function referenceOf(submissionId: string): string {
  return `sim-${hash('sha256', submissionId, 'hex').slice(0, 32)}`;
}
