import type { ChannelDefinition } from '../../message/channel-definition.js';
import type { FieldError } from '../../message/errors.js';
import { ADDRESS_RULES, addressOf } from '../../message/address.js';
import type { MessageContent } from '../../message/message.js';
import { STATUSES } from '../../message/status.js';
import type { VoiceContent } from '../../message/content/voice-content.js';
import type { MessagingSettings } from '../../ports/messaging-settings.js';
import { checkCall } from './voice-fields.js';

const { expired, failed, rejected } = STATUSES;

const VOICE_STATUSES = {
  initiated: { rank: 41, reported: true },
  ringing: { rank: 45, reported: true },
  expired,
  no_answer: { rank: 62, terminal: true, reported: true, failed: true },
  busy: { rank: 64, terminal: true, reported: true, failed: true },
  failed,
  rejected,
  answered: { rank: 91, reported: true },
  completed: { rank: 95, terminal: true, reported: true },
} as const;

/** Event of a busy line or a missing answer after which the call is dialled again. */
export const REDIAL = 'redial';

/** Fields of a message, without those that every message may have. */
export const VOICE_FIELDS = {
  from: true,
  text: true,
  audioUrl: true,
  code: true,
  language: true,
  voice: true,
  repeat: true,
  ringTimeout: true,
  maxDuration: true,
  redial: true,
  machine: true,
  collect: true,
  category: true,
} as const;

/**
 * ```
 * queued → sending → unknown → initiated → ringing → no_answer → busy → failed → rejected → answered → completed
 *             ↑__________________________|  a busy line or no answer that is dialled again leaves the status
 * ```
 */
export function voiceChannel({
  from: caller,
  deliveryReport,
  maxRecipients,
  maxText,
}: MessagingSettings['voice']): ChannelDefinition {
  return {
    name: 'voice',
    title: 'Voice',
    addressKinds: ['phone'],
    statuses: VOICE_STATUSES,
    accepted: 'initiated',
    events: [REDIAL, 'digits'],
    redial: { after: ['busy', 'no_answer'], event: REDIAL, rule: redialOf },
    content: { call: (given, errors) => checkCall(given, maxText, errors) },
    fields: VOICE_FIELDS,
    messageOf: ({ from, ...fields }) => ({ from, content: { ...fields, kind: 'call' } }),
    oneTimeCode: ({ code }) => ({ kind: 'call', code }),
    sender: (from, errors) => callerOf(from ?? caller, errors),
    maxRecipients,
    groups: 'expand',
    deliveryReport,
    consent: { quietHours: ['marketing'], suppressedAs: { marketing: 'do_not_call' } },
    suppression: {},
    pricing: {},
    wire: { statusEvent: 'voice.call_status', call: true },
  };
}

function callerOf(from: unknown, errors: FieldError[]): string {
  const number = addressOf('phone', from);
  if (!number) errors.push({ path: 'from', message: ADDRESS_RULES.phone });
  return number?.value ?? '';
}

function redialOf(content: MessageContent): VoiceContent['redial'] {
  return content.kind === 'call' ? (content as VoiceContent).redial : undefined;
}
