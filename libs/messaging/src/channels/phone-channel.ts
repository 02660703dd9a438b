import type { ChannelDefinition } from '../message/channel-definition.js';
import { STATUSES } from '../message/status.js';

const { sent, expired, undelivered, failed, rejected, delivered, read } = STATUSES;

/** Common definition of the channels to phone numbers. */
export const phoneChannel = {
  addressKinds: ['phone'],
  statuses: { sent, expired, undelivered, failed, rejected, delivered, read },
  accepted: 'sent',
} as const satisfies Partial<ChannelDefinition>;
