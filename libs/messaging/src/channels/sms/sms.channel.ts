import type { ChannelDefinition, SenderKind } from '../../message/channel-definition.js';
import { type FieldError, MessagingConfigError } from '../../message/errors.js';
import { addressOf } from '../../message/address.js';
import type { MessagingSettings } from '../../ports/messaging-settings.js';
import { phoneChannel } from '../phone-channel.js';
import { smsParts } from '../../message/sms-parts.js';

const ALPHANUMERIC = /^(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9 ]{0,9}[A-Za-z0-9])?$/;
const SHORT_CODE = /^\d{3,8}$/;

const SENDER_RULES: Readonly<Record<SenderKind, string>> = {
  alphanumeric: '1 to 11 letters, digits and inner spaces, with at least one letter',
  number: 'a phone number with country code',
  short_code: 'a short code of 3 to 8 digits',
};

const SENDER_KINDS = ['alphanumeric', 'number', 'short_code'] as const;

/** Fields of a message, without those that every message may have. */
export const SMS_FIELDS = { from: true, body: true } as const;

export function smsChannel({
  maxParts,
  maxRecipients,
  deliveryReport,
  upstreamGroups,
  from: usual,
}: MessagingSettings['sms']): ChannelDefinition {
  const wrong: FieldError[] = [];
  if (usual !== undefined) senderId(usual, wrong);
  if (wrong[0]) throw new MessagingConfigError(`sms.from: ${wrong[0].message}`);
  return {
    ...phoneChannel,
    name: 'sms',
    title: 'SMS',
    content: {
      text: ({ text }, errors) => ({
        content: { kind: 'text', text: typeof text === 'string' ? text : '' },
        parts: partsOf(text, maxParts, errors),
      }),
    },
    fields: SMS_FIELDS,
    messageOf: ({ from, body }) => ({ from, content: { kind: 'text', text: body } }),
    oneTimeCode: ({ text }) => ({ kind: 'text', text: text() }),
    sender: (from, errors, kinds) => senderId(from ?? usual, errors, kinds),
    maxRecipients,
    groups: upstreamGroups ? 'pass' : 'expand',
    deliveryReport,
    pricing: {},
    wire: {
      statusEvent: 'sms.delivery_report',
      receivedEvent: 'sms.message_received',
    },
  };
}

function senderId(
  from: unknown,
  errors: FieldError[],
  kinds: readonly SenderKind[] = SENDER_KINDS,
): string {
  const [kind, sender] = typeof from === 'string' ? kindOf(from) : [];
  if (kind && sender && kinds.includes(kind)) return sender;
  const rules = kinds.map((one) => SENDER_RULES[one]).join(', or ');
  errors.push({
    path: 'from',
    message: kind ? `must be ${rules}: the provider takes no other sender` : `must be ${rules}`,
  });
  return '';
}

/** The kind of a sender, and its form in the store: a number is its digits. */
function kindOf(from: string): [] | [SenderKind, string] {
  if (ALPHANUMERIC.test(from)) return ['alphanumeric', from];
  if (SHORT_CODE.test(from)) return ['short_code', from];
  const number = addressOf('phone', from);
  return number ? ['number', number.value] : [];
}

/** The parts of a text; adds an error at `path` where it has none, or too many. */
export function partsOf(
  text: unknown,
  maxParts: number,
  errors: FieldError[],
  path = 'body',
): number {
  if (typeof text !== 'string' || text.length === 0 || text.includes('\0')) {
    errors.push({ path, message: 'must be a text of at least one character, without NUL' });
    return 0;
  }
  const { parts, encoding } = smsParts(text);
  if (parts > maxParts)
    errors.push({
      path,
      message: `takes ${parts} parts in ${encoding}; shorten it to at most ${maxParts}`,
    });
  return parts;
}
