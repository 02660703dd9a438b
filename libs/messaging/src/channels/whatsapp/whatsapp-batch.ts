import type { NewBatch } from '../../store/new-batch.js';
import { isMessageCategory } from '../../message/category.js';
import { type FieldError, MessageValidationError } from '../../message/errors.js';
import type { MessageContent, TemplateContent, TextContent } from '../../message/message.js';
import { isPhoneNumber, normalisePhoneNumber } from '../../message/phone-number.js';
import {
  isLanguage,
  isTemplateName,
  placedParams,
  type Template,
} from '../../message/templates.js';
import type { WhatsAppTemplate, WhatsAppText } from '../../message/whatsapp-message.js';
import type { Clock } from '../../ports/clock.js';
import { milliseconds } from '../../ports/duration.js';
import type { MessagingSettings } from '../../ports/messaging-settings.js';
import type { WhatsAppOptions } from '../../ports/whatsapp-options.js';
import { laneName } from '../lane-name.js';
import { checkOptions, checkTime, fingerprintOf } from '../send-checks.js';
import type { SendOptions } from '../send-options.js';

/** A message as whoever may have written it. */
export type Asked = Partial<Record<keyof (WhatsAppTemplate & WhatsAppText), unknown>>;

/** What a text says, checked. */
export function textContent(
  { text }: Asked,
  { maxText = 4_096 }: WhatsAppOptions,
  errors: FieldError[],
): TextContent {
  if (typeof text !== 'string' || text.length === 0 || /[\0\p{Cs}]/u.test(text))
    errors.push({ path: 'text', message: 'must be a text of at least one character, without NUL' });
  else if (text.length > maxText)
    errors.push({ path: 'text', message: `must have at most ${maxText} characters` });
  return { kind: 'text', text: text as string };
}

/** What a template says, checked as far as the template is known. */
export function templateContent(
  asked: Asked,
  { templates = {} }: WhatsAppOptions,
  errors: FieldError[],
): TemplateContent {
  const given = asked.template;
  const known = isTemplate(given)
    ? given
    : typeof given === 'string' && Object.hasOwn(templates, given)
      ? templates[given]
      : undefined;
  const template = known?.name ?? given;
  const language = asked.language ?? known?.language;
  const category = known?.category ?? asked.category;
  if (!isTemplateName(template))
    errors.push({ path: 'template', message: 'must be the name of an approved template' });
  if (!isLanguage(language))
    errors.push({ path: 'language', message: "must be a language code, such as 'en' or 'pt_BR'" });
  if (category !== undefined && !isMessageCategory(category))
    errors.push({ path: 'category', message: 'must be a billing category' });
  const params = placedParams(asked.params, known, errors);
  return {
    kind: 'template',
    template: template as string,
    language: language as string,
    params,
    ...(isMessageCategory(category) && { category }),
  };
}

/**
 * Checks a send and makes a batch of one message of it.
 * @throws MessageValidationError naming each wrong field, those of the content among them
 */
export function whatsAppBatch(
  { from, to, sendAt }: Asked,
  content: MessageContent,
  errors: FieldError[],
  options: SendOptions,
  { whatsapp, dispatch }: MessagingSettings,
  clock: Clock,
): NewBatch {
  const recipient = phoneNumber('to', to, errors);
  const sender =
    from === undefined && whatsapp.from === undefined
      ? ''
      : phoneNumber('from', from ?? whatsapp.from, errors);
  checkTime('sendAt', sendAt, errors);
  checkOptions(options, errors);
  if (errors.length > 0) throw new MessageValidationError(errors);
  const { tenant = '', validFor, idempotencyKey } = options;
  const due = (sendAt as Date | undefined)?.getTime() ?? null;
  const stored = JSON.stringify(content);
  return {
    id: clock.id(),
    tenant,
    channel: 'whatsapp',
    lane: laneName(dispatch.lane, { tenant, channel: 'whatsapp' }),
    class: options.class ?? 'normal',
    sender,
    content: stored,
    deliveryReport: true,
    parts: 0,
    recipients: [recipient],
    denied: [],
    createdAt: clock.now(),
    sendAt: due,
    validFor: validFor === undefined ? null : milliseconds('validFor', validFor),
    idempotencyKey: idempotencyKey ?? null,
    fingerprint:
      idempotencyKey === undefined
        ? null
        : fingerprintOf(
            [sender, saidBy(content), due, options.class ?? null, validFor ?? null],
            [recipient],
          ),
  };
}

/** Of a template its category is no part: the platform may change that between a send and its repetition. */
function saidBy(content: MessageContent): string {
  return JSON.stringify(
    content.kind === 'template' ? { ...content, category: undefined } : content,
  );
}

function isTemplate(value: unknown): value is Template {
  return typeof value === 'object' && value !== null && 'name' in value && 'params' in value;
}

function phoneNumber(path: string, value: unknown, errors: FieldError[]): string {
  const number = typeof value === 'string' ? normalisePhoneNumber(value) : '';
  if (!isPhoneNumber(number))
    errors.push({
      path,
      message: 'must be a phone number: 7 to 15 digits with country code, such as 2348012345678',
    });
  return number;
}
