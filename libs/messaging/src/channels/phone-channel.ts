import type { ChannelDefinition, SimulatedFate } from '../message/channel-definition.js';
import { STATUSES } from '../message/status.js';

/** Fates by the last four digits of the number. */
const FATES: Readonly<Record<string, SimulatedFate>> = {
  9901: fate('reported', 'undelivered', 'UNDELIV', 'absent_subscriber'),
  9902: fate('reported', 'expired', 'EXPIRED', 'validity_expired'),
  9903: fate('refused', 'rejected', 'REJECTD', 'destination_refused'),
  9904: fate('early'),
  9905: fate('disordered'),
  9906: fate('silent'),
  9907: fate('throttled'),
  9908: fate('lost'),
  9909: fate('vanished'),
  9910: fate('replying'),
};

function fate(
  course: SimulatedFate['course'],
  status = 'delivered',
  rawStatus = 'DELIVRD',
  errorCode?: string,
): SimulatedFate {
  return { course, status, rawStatus, ...(errorCode !== undefined && { errorCode }) };
}

const { sent, expired, undelivered, failed, rejected, delivered, read } = STATUSES;

/** Common definition of the channels to phone numbers; raw statuses of the simulation are SMPP's. */
export const phoneChannel = {
  addressKinds: ['phone'],
  statuses: { sent, expired, undelivered, failed, rejected, delivered, read },
  accepted: 'sent',
  simulate: {
    fateOf: ({ value }) => FATES[value.slice(-4)] ?? fate('reported'),
    underway: { status: 'sent', rawStatus: 'ACCEPTD' },
  },
} as const satisfies Partial<ChannelDefinition>;
