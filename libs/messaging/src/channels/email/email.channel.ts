import type { ChannelDefinition, SimulatedOutcome } from '../../message/channel-definition.js';
import type { FieldError } from '../../message/errors.js';
import { readMailbox } from '../../message/mailbox.js';
import { STATUSES } from '../../message/status.js';
import type { MessagingSettings } from '../../ports/messaging-options.js';
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

export function emailChannel({
  maxRecipients,
  maxSize,
}: MessagingSettings['email']): ChannelDefinition {
  return {
    name: 'email',
    title: 'Email',
    addressKinds: ['email'],
    statuses: EMAIL_STATUSES,
    accepted: 'sent',
    events: ['delayed', 'unsubscribed'],
    content: { email: (given, errors) => checkEmail(given, maxSize, errors) },
    messageOf: (fields) => ({ from: fields['from'], content: { ...fields, kind: 'email' } }),
    oneTimeCode: ({ from, subject, text }) => ({ kind: 'email', from, subject, text: text() }),
    sender: (from: unknown, errors: FieldError[]) => readMailbox(from, 'from', errors)?.email ?? '',
    maxRecipients,
    groups: 'expand',
    consent: { required: ['marketing'] },
    suppression: {
      bounced: { reason: 'hard_bounce', errorCodes: HARD_BOUNCES },
      complained: { reason: 'complaint' },
      unsubscribed: { reason: 'unsubscribe', category: 'marketing' },
    },
    pricing: {},
    wire: {
      statusEvent: 'email.*',
      receivedEvent: 'email.received',
      identifiedBy: 'batch',
      labels: true,
    },
    simulate: {
      outcomeOf: ({ value }) =>
        OUTCOMES[value.slice(0, value.lastIndexOf('@')).toLowerCase()] ?? DELIVERED,
      underway: { status: 'sent', rawStatus: 'relayed' },
      reply: 'Hello',
    },
  };
}

/** Enhanced codes of addresses that do not exist; a full mailbox or a refusal by policy may pass. */
const HARD_BOUNCES = ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1'];

const DELIVERED: SimulatedOutcome = {
  course: 'reported',
  status: 'delivered',
  rawStatus: 'delivered',
};

/** Outcomes by the local part of the address. */
const OUTCOMES: Readonly<Record<string, SimulatedOutcome>> = {
  bounced: { course: 'reported', ...bounce('recipient', 550, '5.1.1', 'No such user here') },
  full: { course: 'reported', ...bounce('mailbox_full', 552, '5.2.2', 'Mailbox is full') },
  blocked: { course: 'reported', ...bounce('block', 554, '5.7.1', 'Refused by policy') },
  complained: { ...DELIVERED, later: { status: 'complained', rawStatus: 'abuse' } },
  delayed: {
    ...DELIVERED,
    before: { status: 'delayed', rawStatus: 'delayed', errorCode: '4.7.1' },
  },
  rejected: {
    course: 'refused',
    status: 'rejected',
    rawStatus: 'refused',
    errorCode: 'address_refused',
  },
  lost: { ...DELIVERED, course: 'unknown' },
  'late-bounce': { ...DELIVERED, later: bounce('recipient', 550, '5.1.1', 'No such user here') },
  reply: { ...DELIVERED, course: 'replying' },
};

function bounce(category: string, code: number, enhanced: string, text: string) {
  return {
    status: 'bounced',
    rawStatus: 'failed',
    errorCode: enhanced,
    details: {
      category,
      smtp_code: code,
      enhanced_code: enhanced,
      diagnostic: `${code} ${enhanced} ${text}`,
      remote_mta: 'mx.simulator.test',
    },
  } as const;
}
