import type {
  ChannelDefinition,
  CheckedContent,
  ContentCheck,
  SuppressionRule,
} from '../../message/channel-definition.js';
import { isMessageCategory, MESSAGE_CATEGORIES } from '../../message/message.js';
import type { FieldError } from '../../message/errors.js';
import { ADDRESS_RULES, addressOf } from '../../message/address.js';
import {
  isLanguage,
  isTemplateName,
  placedParams,
  SyncedTemplates,
  type Template,
} from '../../message/templates.js';
import type { MessagingSettings } from '../../ports/messaging-settings.js';
import { phoneChannel } from '../phone-channel.js';
import { checkMedia, readButtons, readHeader, readParamNames } from './whatsapp-content.js';

/** WhatsApp's own error codes. */
const OUTSIDE_WINDOW = '131047';
const STOPPED_MARKETING = '131050';

/** The person stopped marketing messages of this business in WhatsApp. */
const MARKETING_STOPPED: SuppressionRule = {
  reason: 'unsubscribe',
  category: 'marketing',
  errorCodes: [STOPPED_MARKETING],
};

type WhatsAppSettings = MessagingSettings['whatsapp'];

/** Fields of each kind of content. */
export const CONTENT_FIELDS = {
  text: { text: true },
  media: { type: true, link: true, mediaId: true, caption: true, filename: true },
  template: {
    template: true,
    language: true,
    params: true,
    category: true,
    paramNames: true,
    header: true,
    buttons: true,
  },
} as const;

export function whatsAppChannel(options: WhatsAppSettings): ChannelDefinition {
  return {
    ...phoneChannel,
    name: 'whatsapp',
    title: 'WhatsApp',
    // A platform id is a business-scoped user id: a user may hide the number.
    addressKinds: ['phone', 'platform'],
    content: {
      text: ({ text }, errors) => checkText(text, options, errors),
      template: (given, errors) => checkTemplate(given, options, errors),
      media: checkMedia,
    },
    fields: {
      from: true,
      ...CONTENT_FIELDS.text,
      ...CONTENT_FIELDS.media,
      ...CONTENT_FIELDS.template,
    },
    messageOf: ({ from, text, ...others }) => ({
      from,
      content:
        text === undefined
          ? { ...others, kind: others['type'] === undefined ? 'template' : 'media' }
          : { kind: 'text', text },
    }),
    oneTimeCode: ({ code, template }, errors) => {
      if (!template)
        errors.push({ path: 'template', message: 'is missing: WhatsApp carries a code in one' });
      return {
        kind: 'template',
        // A definition, as the option need not list it among those that messages may name.
        template: { ...template, params: 1 },
        params: [code],
        category: 'authentication',
      };
    },
    sender: (from, errors) => {
      const given = from ?? options.from;
      if (given === undefined) return '';
      const number = addressOf('phone', given);
      if (!number) errors.push({ path: 'from', message: ADDRESS_RULES.phone });
      return number?.value ?? '';
    },
    maxRecipients: 1,
    consent: {
      required: true,
      serviceWindow: true,
      windowClosedBy: [OUTSIDE_WINDOW],
      suppressedAs: { transactional: 'opted_out', marketing: 'opted_out' },
    },
    suppression: { failed: MARKETING_STOPPED, rejected: MARKETING_STOPPED },
    pricing: {
      categories: MESSAGE_CATEGORIES,
      categoryOf: { text: 'service', media: 'service' },
      presumedCategory: 'marketing',
    },
    wire: {
      statusEvent: 'whatsapp.message_status',
      receivedEvent: 'whatsapp.message_received',
    },
  };
}

/** The channel as of a send from before the platform withdrew a template: any can be named. */
export function withAnyTemplate(
  channel: ChannelDefinition,
  options: WhatsAppSettings,
): ChannelDefinition {
  if (isStrict(options.templates)) return channel;
  const template: ContentCheck = (given, errors) =>
    checkTemplate(given, { ...options, templates: 'open' }, errors);
  return { ...channel, content: { ...channel.content, template } };
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
  return { content: { kind: 'text', text: typeof text === 'string' ? text : '' } };
}

function checkTemplate(
  given: Readonly<Record<string, unknown>>,
  { templates }: WhatsAppSettings,
  errors: FieldError[],
): CheckedContent {
  const named = given['template'];
  const listed = listedTemplate(templates, named, given['language']);
  const known = isTemplate(named) ? named : (listed ?? knownTemplate(templates, named));
  const template = known?.name ?? named;
  const language = given['language'] ?? known?.language;
  const category = listed?.category ?? known?.category ?? given['category'];
  if (!isTemplateName(template))
    errors.push({ path: 'template', message: 'must be the name of an approved template' });
  else if (!known && isStrict(templates)) errors.push({ path: 'template', message: UNKNOWN });
  if (!isLanguage(language))
    errors.push({ path: 'language', message: "must be a language code, such as 'en' or 'pt_BR'" });
  if (category !== undefined && !isMessageCategory(category))
    errors.push({ path: 'category', message: 'must be a billing category' });
  const params = placedParams(given['params'], known, errors);
  const atPlatform = listed ?? (known?.named ? known : undefined);
  const names = Array.isArray(atPlatform?.params) ? atPlatform.params : given['paramNames'];
  const paramNames = readParamNames(names, params, errors);
  const header = readHeader(given['header'], errors);
  const buttons = readButtons(given['buttons'], errors);
  return {
    content: {
      kind: 'template',
      template: template as string,
      language: language as string,
      params,
      ...(isMessageCategory(category) && { category }),
      ...(paramNames && { paramNames }),
      ...(header && { header }),
      ...(buttons && buttons.length > 0 && { buttons }),
    },
  };
}

const UNKNOWN =
  "is not in the option whatsapp.templates: add it there by defineTemplates(), or set whatsapp.templates to 'open' to send any template unchecked";

/**
 * The template of the option with this name, or as the platform lists it; `undefined`: there is none.
 * @throws TemplateNotApprovedError
 */
export function knownTemplate(
  templates: WhatsAppSettings['templates'],
  name: unknown,
): Template | undefined {
  if (typeof name !== 'string') return undefined;
  if (!isStrict(templates)) return listedTemplate(templates, name, undefined);
  return Object.hasOwn(templates, name) ? templates[name] : undefined;
}

type StrictTemplates = Exclude<WhatsAppSettings['templates'], 'open' | SyncedTemplates>;

function isStrict(templates: WhatsAppSettings['templates']): templates is StrictTemplates {
  return templates !== 'open' && !(templates instanceof SyncedTemplates);
}

/** The template as the platform lists it. @throws TemplateNotApprovedError */
function listedTemplate(
  templates: WhatsAppSettings['templates'],
  named: unknown,
  given: unknown,
): Template | undefined {
  if (!(templates instanceof SyncedTemplates)) return undefined;
  const name = isTemplate(named) ? named.name : named;
  const language = given ?? (isTemplate(named) ? named.language : undefined);
  if (!isTemplateName(name) || (language !== undefined && !isLanguage(language))) return undefined;
  const found = templates.find(name, language);
  if (!found) return undefined;
  const { params, category, fixedLength } = found;
  return {
    name,
    language: found.language,
    params,
    ...(category && { category }),
    ...(fixedLength !== undefined && { fixedLength }),
  };
}

function isTemplate(value: unknown): value is Template {
  return typeof value === 'object' && value !== null && 'name' in value && 'params' in value;
}
