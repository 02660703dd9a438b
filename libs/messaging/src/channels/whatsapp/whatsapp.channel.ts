import type { CheckedContent, ChannelDefinition } from '../../message/channel-definition.js';
import { isMessageCategory, MESSAGE_CATEGORIES } from '../../message/message.js';
import type { FieldError } from '../../message/errors.js';
import { ADDRESS_RULES, addressOf } from '../../message/address.js';
import {
  isLanguage,
  isTemplateName,
  placedParams,
  type Template,
} from '../../message/templates.js';
import type { MessagingSettings } from '../../ports/messaging-options.js';
import { phoneChannel } from '../phone-channel.js';

type WhatsAppSettings = MessagingSettings['whatsapp'];

export function whatsAppChannel(options: WhatsAppSettings): ChannelDefinition {
  return {
    ...phoneChannel,
    name: 'whatsapp',
    title: 'WhatsApp',
    content: {
      text: ({ text }, errors) => checkText(text, options, errors),
      template: (given, errors) => checkTemplate(given, options, errors),
    },
    sender: (from, errors) => {
      const given = from ?? options.from;
      if (given === undefined) return '';
      const number = addressOf('phone', given);
      if (!number) errors.push({ path: 'from', message: ADDRESS_RULES.phone });
      return number?.value ?? '';
    },
    maxRecipients: 1,
    consent: { required: true, serviceWindow: true },
    pricing: {
      categories: MESSAGE_CATEGORIES,
      categoryOf: { text: 'service' },
      presumedCategory: 'marketing',
    },
    wire: {
      statusEvent: 'whatsapp.message_status',
      receivedEvent: 'whatsapp.message_received',
      identifiedBy: 'message',
    },
    simulate: {
      ...phoneChannel.simulate,
      followUp: { after: 'delivered', status: 'read', rawStatus: 'READ' },
      idPrefix: 'wamid.',
      reply: 'Hello',
    },
  };
}

function checkText(
  text: unknown,
  { maxText }: WhatsAppSettings,
  errors: FieldError[],
): CheckedContent {
  if (typeof text !== 'string' || text.length === 0 || /[\0\p{Cs}]/u.test(text))
    errors.push({ path: 'text', message: 'must be a text of at least one character, without NUL' });
  else if (text.length > maxText)
    errors.push({ path: 'text', message: `must have at most ${maxText} characters` });
  return { content: { kind: 'text', text: text as string } };
}

function checkTemplate(
  given: Readonly<Record<string, unknown>>,
  { templates }: WhatsAppSettings,
  errors: FieldError[],
): CheckedContent {
  const named = given['template'];
  const known = isTemplate(named)
    ? named
    : typeof named === 'string' && Object.hasOwn(templates, named)
      ? templates[named]
      : undefined;
  const template = known?.name ?? named;
  const language = given['language'] ?? known?.language;
  const category = known?.category ?? given['category'];
  if (!isTemplateName(template))
    errors.push({ path: 'template', message: 'must be the name of an approved template' });
  if (!isLanguage(language))
    errors.push({ path: 'language', message: "must be a language code, such as 'en' or 'pt_BR'" });
  if (category !== undefined && !isMessageCategory(category))
    errors.push({ path: 'category', message: 'must be a billing category' });
  return {
    content: {
      kind: 'template',
      template: template as string,
      language: language as string,
      params: placedParams(given['params'], known, errors),
      ...(isMessageCategory(category) && { category }),
    },
  };
}

function isTemplate(value: unknown): value is Template {
  return typeof value === 'object' && value !== null && 'name' in value && 'params' in value;
}
