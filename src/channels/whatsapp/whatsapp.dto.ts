import type { Cost } from '../../billing/charging/message-costs.js';
import {
  type MessageStatus,
  type MessageTimeline,
  MESSAGE_STATUSES,
  type SubmittedMessage,
} from '@dundun/messaging';
import type {
  MediaContent,
  MediaSource,
  TemplateButton,
  TemplateHeader,
} from '@dundun/messaging/ports';
import { TEMPLATE_CATEGORIES } from '../../accounts/accounts.tables.js';
import { Language, Template, TemplateName } from '../../accounts/templates.js';
import { invalidField } from '../../http/api-error.js';
import {
  Choice,
  Field,
  isText,
  List,
  Nested,
  Objects,
  PhoneNumber,
  type Plain,
  Price,
  RECIPIENT,
  RequiresOneOf,
  SameText,
  Text,
  TextUnder,
  Timestamp,
  WholeNumber,
} from '../../http/fields.js';
import { PageOf } from '../../http/page.dto.js';
import { MetadataOfSend, TagsOfSend } from '../../http/label-fields.js';
import { BodyExamples } from '../../http/request.decorators.js';
import { OneOfForms } from '../../http/validation.js';

/** Field names for a free text: the interface does not define one. */
export const WHATSAPP_TEXT = ['text', 'body', 'content'] as const;

/** Longest free text or template parameter, in characters. */
const LONGEST_TEXT = 4_096;

const PARAMS = {
  type: 'array',
  items: { type: 'string', maxLength: LONGEST_TEXT },
  examples: [['Ada', '1001']],
};

type TemplateContent = Extract<MessageTimeline['content'], { readonly kind: 'template' }>;

const LONGEST_LINK = 2_048;

const MEDIA_TYPES = [
  'image',
  'video',
  'audio',
  'document',
  'sticker',
] as const satisfies readonly MediaContent['type'][];

/** A file of media: its address, which the platform fetches, or its id. */
class FileFields {
  @Text({
    optional: true,
    maxLength: LONGEST_LINK,
    description: 'Its address, which the platform fetches; or `media_id`.',
    examples: ['https://cdn.example.com/map.png'],
  })
  readonly link?: string;

  @Text({
    optional: true,
    pattern: '^[A-Za-z0-9_.:-]{1,255}$',
    message: 'must be the id of an upload',
    description: 'The answer of an upload.',
  })
  readonly media_id?: string;

  @Text({ optional: true, maxLength: 240, description: 'Of a document.', examples: ['map.pdf'] })
  readonly filename?: string;
}

class TemplateHeaderFields extends FileFields {
  @Choice(['text', 'image', 'video', 'document']) readonly type!: TemplateHeader['type'];
  @Text({ optional: true, maxLength: 60, description: 'Of the type `text`.' })
  readonly text?: string;
}

class TemplateButtonFields {
  @WholeNumber({ minimum: 0, maximum: 9, description: 'Its place in the template, from 0.' })
  readonly index!: number;

  @Choice(['url', 'quick_reply', 'copy_code']) readonly type!: TemplateButton['type'];

  @Text({
    minLength: 1,
    maxLength: 2_000,
    description: 'The end of the address, the payload that comes back, or the code.',
  })
  readonly value!: string;
}

/** Values of a template beside the params of its body. */
class TemplateComponents {
  @Nested(TemplateHeaderFields, { optional: true }) readonly header?: TemplateHeaderFields;

  @Objects(TemplateButtonFields, {
    optional: true,
    checked: true,
    maxItems: 10,
    message: 'must be a list of at most 10 buttons',
  })
  readonly buttons?: readonly TemplateButtonFields[];
}

export class SendTemplate {
  @PhoneNumber() readonly to!: string;
  @Choice(['template']) readonly message_type!: 'template';
  @TemplateName() readonly template_name!: string;
  @Language() readonly language!: string;

  @List({
    ...PARAMS,
    description: 'Params by their position, as many as the template has.',
    entry: (param) =>
      isText(param, LONGEST_TEXT)
        ? undefined
        : `must be a text of at most ${LONGEST_TEXT} characters`,
    message: 'must be a list of texts, empty where the template has no params',
  })
  readonly params!: readonly string[];

  @Nested(TemplateComponents, {
    optional: true,
    description: 'Values of the header and of buttons, where the template has such variables.',
  })
  readonly components?: TemplateComponents;

  @TagsOfSend() readonly tags?: readonly string[];
  @MetadataOfSend() readonly metadata?: Readonly<Record<string, string>>;
}

/** A send of a free text, inside the recipient's 24-hour window. */
@RequiresOneOf(...WHATSAPP_TEXT)
export class SendText {
  @PhoneNumber() readonly to!: string;
  @Choice(['text']) readonly message_type!: 'text';
  @TextUnder(WHATSAPP_TEXT, { maxLength: LONGEST_TEXT }) readonly text?: string;
  @SameText({ maxLength: LONGEST_TEXT }) readonly body?: string;
  @SameText({ maxLength: LONGEST_TEXT }) readonly content?: string;
  @TagsOfSend() readonly tags?: readonly string[];
  @MetadataOfSend() readonly metadata?: Readonly<Record<string, string>>;
}

class MediaFields extends FileFields {
  @Choice(MEDIA_TYPES) readonly type!: MediaContent['type'];

  @Text({
    optional: true,
    minLength: 1,
    maxLength: 1_024,
    description: 'Of an image, a video or a document.',
  })
  readonly caption?: string;
}

/** A send of a file, inside the recipient's 24-hour window. */
export class SendMedia {
  @PhoneNumber() readonly to!: string;
  @Choice(['media']) readonly message_type!: 'media';
  @Nested(MediaFields) readonly media!: MediaFields;
  @TagsOfSend() readonly tags?: readonly string[];
  @MetadataOfSend() readonly metadata?: Readonly<Record<string, string>>;
}

/** `POST /whatsapp/ng/v1/sendwhatsapp` (interface section 2.3) */
@OneOfForms('message_type', { template: SendTemplate, text: SendText, media: SendMedia })
@BodyExamples({
  'a template': {
    to: '2348012345678',
    message_type: 'template',
    template_name: 'order_update',
    language: 'en',
    params: ['Ada', '1001'],
  },
  'a text, inside the window': {
    to: '2348012345678',
    message_type: 'text',
    text: 'It is on its way.',
  },
  'an image, inside the window': {
    to: '2348012345678',
    message_type: 'media',
    media: { type: 'image', link: 'https://cdn.example.com/map.png', caption: 'Here' },
  },
})
export class SendWhatsApp {
  @PhoneNumber() readonly to!: string;
  @Choice(['template', 'text', 'media']) readonly message_type!: 'template' | 'text' | 'media';
}

/** `?filename=` of an upload. */
export class UploadQuery {
  @Text({
    optional: true,
    maxLength: 240,
    description: 'Name of a document, as the platform keeps it.',
  })
  readonly filename?: string;
}

export class UploadedMedia {
  @Text({
    description:
      'For `media_id` of messages from the same number. The platform keeps it for 30 days.',
    examples: ['106540352242922'],
  })
  readonly media_id!: string;
}

class Charged {
  @Text({
    description: 'The platform’s id once it is known, ours before; both read the message back.',
    examples: ['wamid.9Yb3sT0k2mQ7xV5cN1pL8aZ4'],
  })
  readonly message_id!: string;

  @Price({ examples: [0.01] }) readonly cost!: number | null;
  @Text({ nullable: true, examples: ['USD'] }) readonly currency!: string | null;

  @Choice([...TEMPLATE_CATEGORIES, 'service'], { nullable: true, examples: ['utility'] })
  readonly category!: string | null;

  @PhoneNumber({ description: 'The account’s WhatsApp number.', examples: ['2340012345678'] })
  readonly sender!: string;
}

export class WhatsAppEstimate {
  @Choice([...TEMPLATE_CATEGORIES, 'service'], { nullable: true, examples: ['utility'] })
  readonly category!: string | null;

  @Price({ examples: [0.01] }) readonly cost!: number | null;
  @Text({ nullable: true, examples: ['USD'] }) readonly currency!: string | null;
}

const SUBMIT_STATUSES = [
  'sent',
  'queued',
  'unknown',
  'rejected',
  'failed',
  'expired',
  'cancelled',
] as const;

/** Response to a send (interface section 2.4). */
export class SendWhatsAppAnswer extends Charged {
  @Choice(SUBMIT_STATUSES, {
    description:
      '`sent`: the platform has the message. `queued`, `unknown`: the outcome is not known yet; read the message back. The others: the message was not sent.',
  })
  readonly status!: (typeof SUBMIT_STATUSES)[number];
}

export function sendAnswerOf(message: SubmittedMessage, cost?: Cost): SendWhatsAppAnswer {
  return { ...charged(message, cost), status: submitStatus(message) };
}

/** Outcome of the submit, without later reports: a delivered message was `sent`. */
function submitStatus(message: SubmittedMessage): SendWhatsAppAnswer['status'] {
  const status = message.status as MessageStatus;
  switch (status) {
    case 'queued':
    case 'sending':
      return 'queued';
    case 'sent':
    case 'delivered':
    case 'read':
    case 'undelivered':
      return 'sent';
    case 'expired':
    case 'failed':
    case 'rejected':
      return message.providerId === null ? status : 'sent';
    case 'unknown':
    case 'cancelled':
      return status;
  }
}

export class WhatsAppMessage extends Charged {
  @Text({
    description: 'The id before the platform’s was known.',
    examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0'],
  })
  readonly reference_id!: string;

  @Field(RECIPIENT) readonly to!: string;

  @Choice(['template', 'text', 'media'], {
    nullable: true,
    description: 'null after retention erased it.',
  })
  readonly message_type!: 'template' | 'text' | 'media' | null;

  @Text({ nullable: true, examples: ['order_update'] }) readonly template_name!: string | null;
  @Text({ nullable: true, examples: ['en'] }) readonly language!: string | null;
  @Field({ ...PARAMS, nullable: true }) readonly params!: readonly string[] | null;

  @Nested(TemplateComponents, { nullable: true }) readonly components!: TemplateComponents | null;

  @Text({ nullable: true, description: 'null: no text, or after retention erased it.' })
  readonly text!: string | null;

  @Nested(MediaFields, { nullable: true }) readonly media!: MediaFields | null;

  @Choice(MESSAGE_STATUSES, { examples: ['read'] }) readonly status!: MessageStatus;
  @Text({ nullable: true }) readonly error_code!: string | null;
  @Timestamp() readonly created_at!: string;

  @Timestamp({
    nullable: true,
    description:
      'When the message came to this status, as the platform says; null before any report.',
  })
  readonly smsc_timestamp!: string | null;
}

export function messageOf(message: MessageTimeline, cost?: Cost): WhatsAppMessage {
  const { content } = message;
  const template = content?.kind === 'template' ? content : undefined;
  const last = message.reports.findLast(({ sequence }) => sequence !== null);
  return {
    ...charged(message, cost),
    reference_id: message.id,
    to: message.recipient,
    message_type: typeOf(content),
    template_name: template?.template ?? null,
    language: template?.language ?? null,
    params: template?.params ?? null,
    components: template ? componentsOf(template) : null,
    text: content?.kind === 'text' ? content.text : null,
    media: content?.kind === 'media' ? mediaOf(content) : null,
    status: message.status as MessageStatus,
    error_code: message.errorCode,
    created_at: message.acceptedAt.toISOString(),
    smsc_timestamp: last?.providerTime.toISOString() ?? null,
  };
}

function componentsOf({ header, buttons }: TemplateContent): TemplateComponents | null {
  if (!header && !buttons) return null;
  return {
    ...(header && { header: header.type === 'text' ? header : fileOf(header) }),
    ...(buttons && { buttons: buttons.map(buttonOf) }),
  };
}

function buttonOf(button: TemplateButton): TemplateButtonFields {
  const { index, type } = button;
  switch (button.type) {
    case 'url':
      return { index, type, value: button.suffix };
    case 'quick_reply':
      return { index, type, value: button.payload };
    case 'copy_code':
      return { index, type, value: button.code };
  }
}

function mediaOf(content: MediaContent): MediaFields {
  const { caption } = content;
  return { ...fileOf(content), ...(caption !== undefined && { caption }) };
}

function fileOf<T extends string>(
  file: MediaSource & { readonly type: T; readonly filename?: string },
) {
  const { type, link, mediaId, filename } = file;
  return {
    type,
    ...(link === undefined ? { media_id: mediaId ?? '' } : { link }),
    ...(filename !== undefined && { filename }),
  };
}

/** The header of a template for the library. @throws ApiError 422 */
export function headerOf(header: TemplateHeaderFields): TemplateHeader {
  const { type, text = '', ...file } = header;
  const path = 'components.header';
  if (type !== 'text' && header.text !== undefined)
    throw invalidField(`${path}.text`, 'goes with the type text alone');
  if (type !== 'text') return { type, ...sourceOf(file, path) };
  const [wrong] = Object.keys(file);
  if (wrong !== undefined) throw invalidField(`${path}.${wrong}`, 'goes with a file alone');
  return { type, text };
}

/** A button of a template for the library, which checks its value. */
export function libraryButtonOf({ index, type, value }: TemplateButtonFields): TemplateButton {
  switch (type) {
    case 'url':
      return { type, index, suffix: value };
    case 'quick_reply':
      return { type, index, payload: value };
    case 'copy_code':
      return { type, index, code: value };
  }
}

/** What a file is for the library: its link, or the id of its upload. @throws ApiError 422 */
export function sourceOf(
  { link, media_id: mediaId, filename }: FileFields,
  path: string,
): MediaSource & { readonly filename?: string } {
  if ((link === undefined) === (mediaId === undefined))
    throw invalidField(`${path}.link`, 'must be given, or media_id, and not both');
  return {
    ...(link === undefined ? { mediaId } : { link }),
    ...(filename !== undefined && { filename }),
  };
}

function typeOf(content: MessageTimeline['content']): WhatsAppMessage['message_type'] {
  if (content === null) return null;
  return content.kind === 'template' || content.kind === 'media' ? content.kind : 'text';
}

/**
 * The platform's category; before it is known, the category of the send.
 * @param cost `undefined`: the account is not charged, and has what the platform says, or the card
 */
function charged(message: SubmittedMessage, cost: Cost | undefined): Plain<Charged> {
  const { content } = message;
  const category = content?.kind === 'template' ? content.category : content && 'service';
  return {
    message_id: message.providerId ?? message.id,
    cost: message.cost === null ? null : Number(message.cost),
    currency: message.currency,
    ...cost,
    category: message.category ?? category ?? null,
    sender: message.sender,
  };
}

export class TemplatePage extends PageOf(Template) {}
