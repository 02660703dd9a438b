import type { ChannelDefinition } from '../../message/channel-definition.js';
import { parseMailbox } from '../../message/mailbox.js';
import { STATUSES } from '../../message/status.js';
import type { MessagingSettings } from '../../ports/messaging-settings.js';
import { checkEmail } from './email-fields.js';

const { sent, expired, failed, rejected, delivered, read } = STATUSES;

/** Statuses of an email. A bounce may follow `delivered`, so these two have the highest ranks. */
const EMAIL_STATUSES = {
  sent,
  expired,
  failed,
  rejected,
  delivered,
  read,
  bounced: { rank: 105, terminal: true, reported: true, failed: true },
  complained: { rank: 110, terminal: true, reported: true },
} as const;

/** Fields of a message, without its addressees, its attachments, and those that every message may have. */
export const EMAIL_FIELDS = {
  from: true,
  subject: true,
  text: true,
  html: true,
  replyTo: true,
  headers: true,
  category: true,
  unsubscribeUrl: true,
} as const;

export function emailChannel({
  maxRecipients,
  maxSize,
  from: usual,
}: MessagingSettings['email']): ChannelDefinition {
  return {
    name: 'email',
    title: 'Email',
    addressKinds: ['email'],
    statuses: EMAIL_STATUSES,
    accepted: 'sent',
    events: ['delayed', 'unsubscribed'],
    content: {
      email: (given, errors) =>
        checkEmail({ ...given, from: given['from'] ?? usual }, maxSize, errors),
    },
    fields: EMAIL_FIELDS,
    messageOf: (fields) => ({ from: fields['from'], content: { ...fields, kind: 'email' } }),
    oneTimeCode: ({ from, subject, text }) => ({ kind: 'email', from, subject, text: text() }),
    // The check of the content has it, and names a wrong one.
    sender: (from: unknown) => parseMailbox(from ?? usual)?.email ?? '',
    maxRecipients,
    groups: 'expand',
    consent: { required: ['marketing'] },
    suppression: {
      bounced: {
        reason: 'hard_bounce',
        errorCodes: HARD_BOUNCES,
        detailsCategory: 'recipient',
      },
      complained: { reason: 'complaint' },
      unsubscribed: { reason: 'unsubscribe', category: 'marketing' },
    },
    pricing: {},
    wire: {
      statusEvent: 'email.*',
      receivedEvent: 'email.received',
    },
  };
}

/**
 * Enhanced codes of addresses that do not exist, for reports without a category. A full mailbox or a
 * refusal by policy may pass, and 5.2.1 means either.
 */
const HARD_BOUNCES = ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.1.351'];
