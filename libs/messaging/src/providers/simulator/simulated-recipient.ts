import { hash } from 'node:crypto';
import type { DeliveryReport } from '../../message/delivery-report.js';
import type { Channel } from '../../message/message.js';
import type { ReportedStatus } from '../../message/status.js';

/** What happens to a recipient, by the last four digits of the number; any other is `delivered`. */
export type Fate =
  | 'delivered'
  | 'undelivered'
  | 'expired'
  | 'refused'
  | 'early'
  | 'disordered'
  | 'silent'
  | 'throttled'
  | 'lost'
  | 'vanished'
  | 'replying';

const FATES: ReadonlyMap<string, Fate> = new Map([
  ['9901', 'undelivered'],
  ['9902', 'expired'],
  ['9903', 'refused'],
  ['9904', 'early'],
  ['9905', 'disordered'],
  ['9906', 'silent'],
  ['9907', 'throttled'],
  ['9908', 'lost'],
  ['9909', 'vanished'],
  ['9910', 'replying'],
]);

function fateOf(recipient: string): Fate {
  return FATES.get(recipient.slice(-4)) ?? 'delivered';
}

/** Why a `…9903` is refused. */
export const REFUSED = 'destination_refused';

/**
 * Everything the simulator will ever say of one recipient of one submission, derived from what a
 * resend repeats: after a restart it says the same, times included, so that a repeated report is
 * recognised. The times lie within 50 ms after the submission first left.
 */
export interface SimulatedRecipient {
  readonly fate: Fate;
  /** 0 to 1, for whoever spreads reports over time. */
  readonly jitter: number;
  /** On its way; only `disordered` reports it. */
  readonly sent: DeliveryReport;
  /** What became of it; the last word, but on WhatsApp. */
  readonly final: DeliveryReport;
  /** On WhatsApp, what is delivered is read. */
  readonly read: DeliveryReport | undefined;
}

export function simulatedRecipient(
  submissionId: string,
  recipient: string,
  firstSentAt: Date,
  channel: Channel = 'sms',
): SimulatedRecipient {
  const fate = fateOf(recipient);
  const dice = hash('sha256', `${submissionId} ${recipient}`, 'buffer');
  const sentAt = firstSentAt.getTime() + ((dice[0] ?? 0) % 10);
  const [status, rawStatus, errorCode] = lastWord(fate);
  const report = { reference: referenceOf(submissionId), messageId: null, recipient };
  const deliveredAt = sentAt + 1 + ((dice[1] ?? 0) % 40);
  return {
    fate,
    jitter: dice.readUInt32BE(2) / 0xffffffff,
    sent: {
      ...report,
      status: 'sent',
      rawStatus: 'ACCEPTD',
      errorCode: null,
      providerTime: new Date(sentAt),
    },
    final: {
      ...report,
      status,
      rawStatus,
      errorCode,
      providerTime: new Date(deliveredAt),
    },
    read:
      channel === 'whatsapp' && status === 'delivered'
        ? {
            ...report,
            status: 'read',
            rawStatus: 'READ',
            errorCode: null,
            providerTime: new Date(deliveredAt + 1),
          }
        : undefined,
  };
}

/** WhatsApp's own id of the message. */
export function platformIdOf(submissionId: string, recipient: string): string {
  return `wamid.${hash('sha256', `${submissionId} ${recipient}`, 'base64url').slice(0, 32)}`;
}

/** The same submission always has the same reference. */
export function referenceOf(submissionId: string): string {
  return `sim-${hash('sha256', submissionId, 'hex').slice(0, 32)}`;
}

/** Status, the carrier's word for it (SMPP message states), error code. */
function lastWord(fate: Fate): [ReportedStatus, string, string | null] {
  switch (fate) {
    case 'undelivered':
      return ['undelivered', 'UNDELIV', 'absent_subscriber'];
    case 'expired':
      return ['expired', 'EXPIRED', 'validity_expired'];
    case 'refused':
      return ['rejected', 'REJECTD', REFUSED];
    case 'delivered':
    case 'early':
    case 'disordered':
    case 'silent':
    case 'throttled':
    case 'lost':
    case 'vanished':
    case 'replying':
      return ['delivered', 'DELIVRD', null];
    default:
      return fate satisfies never;
  }
}
