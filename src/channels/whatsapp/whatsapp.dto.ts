import type { Cost } from '../../billing/charging/message-costs.js';
import {
  type MessageStatus,
  type MessageTimeline,
  MESSAGE_STATUSES,
  type SubmittedMessage,
} from '@dundun/messaging';
import { TEMPLATE_CATEGORIES } from '../../accounts/accounts.tables.js';
import { Language, Template, TemplateName } from '../../accounts/templates.js';
import {
  Choice,
  Field,
  isText,
  List,
  PhoneNumber,
  type Plain,
  Price,
  RECIPIENT,
  RequiresOneOf,
  SameText,
  Text,
  TextUnder,
  Timestamp,
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

/** `POST /whatsapp/ng/v1/sendwhatsapp` (interface section 2.3) */
@OneOfForms('message_type', { template: SendTemplate, text: SendText })
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
})
export class SendWhatsApp {
  @PhoneNumber() readonly to!: string;
  @Choice(['template', 'text']) readonly message_type!: 'template' | 'text';
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
function submitStatus({ status, providerId }: SubmittedMessage): SendWhatsAppAnswer['status'] {
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
      return providerId === null ? status : 'sent';
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
    description: '`media`: sent from the portal. null after retention erased it.',
  })
  readonly message_type!: 'template' | 'text' | 'media' | null;

  @Text({ nullable: true, examples: ['order_update'] }) readonly template_name!: string | null;
  @Text({ nullable: true, examples: ['en'] }) readonly language!: string | null;
  @Field({ ...PARAMS, nullable: true }) readonly params!: readonly string[] | null;

  @Text({ nullable: true, description: 'null: no text, or after retention erased it.' })
  readonly text!: string | null;

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
    text: content?.kind === 'text' ? content.text : null,
    status: message.status,
    error_code: message.errorCode,
    created_at: message.acceptedAt.toISOString(),
    smsc_timestamp: last?.providerTime.toISOString() ?? null,
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
