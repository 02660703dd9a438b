import type { ChannelDefinition } from '../../message/channel-definition.js';
import type { FieldError } from '../../message/errors.js';
import type { MessagingSettings } from '../../ports/messaging-options.js';
import { phoneChannel } from '../phone-channel.js';
import { smsParts } from '../../message/sms-parts.js';

const SENDER = /^(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9 ]{0,9}[A-Za-z0-9])?$/;

export function smsChannel({
  maxParts,
  maxRecipients,
  deliveryReport,
  upstreamGroups,
}: MessagingSettings['sms']): ChannelDefinition {
  return {
    ...phoneChannel,
    name: 'sms',
    title: 'SMS',
    content: {
      text: ({ text }, errors) => ({
        content: { kind: 'text', text: text as string },
        parts: partsOf(text, maxParts, errors),
      }),
    },
    sender: senderId,
    maxRecipients,
    groups: upstreamGroups ? 'pass' : 'expand',
    deliveryReport,
    pricing: {},
    wire: { statusEvent: 'sms.delivery_report', identifiedBy: 'batch' },
  };
}

function senderId(from: unknown, errors: FieldError[]): string {
  if (typeof from === 'string' && SENDER.test(from)) return from;
  errors.push({
    path: 'from',
    message: 'must be 1 to 11 letters, digits and inner spaces, with at least one letter',
  });
  return '';
}

function partsOf(text: unknown, maxParts: number, errors: FieldError[]): number {
  if (typeof text !== 'string' || text.length === 0 || text.includes('\0')) {
    errors.push({ path: 'body', message: 'must be a text of at least one character, without NUL' });
    return 0;
  }
  const { parts, encoding } = smsParts(text);
  if (parts > maxParts)
    errors.push({
      path: 'body',
      message: `takes ${parts} parts in ${encoding}; shorten it to at most ${maxParts}`,
    });
  return parts;
}
