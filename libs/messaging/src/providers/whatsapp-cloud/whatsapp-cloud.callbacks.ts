import { opensWhatsAppWindow, textOf as nonEmpty } from '../../callbacks/callback-map.js';
import {
  buttonOf,
  contactsOf,
  flowOf,
  locationOf,
  mediaOf,
  otherOf,
  reactionOf,
  rowOf,
  shortTextOf,
} from '../../callbacks/inbound-contents.js';
import { anySame, hmacSignature, readSecrets, type Secrets } from '../../callbacks/verifiers.js';
import type { DeliveryReport, InboundMessage } from '../../message/events.js';
import type { TemplateStatusUpdate } from '../../message/templates.js';
import { identifier, own, plausible, recipientNumber, word } from '../../message/report-fields.js';
import type {
  CallbackParser,
  CallbackRequest,
  CallbackVerifier,
  ParsedCallback,
} from '../../ports/callback-parser.js';
import { group, type ReadersOf } from '../../ports/option-schema.js';
import { templateUpdateOf } from './graph-templates.js';
import type { InboundContent, InboundFile } from '../../message/content/inbound-content.js';

const STATUSES = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['failed', 'failed'],
]);

/**
 * Parser of the webhooks of Meta's WhatsApp Cloud API: statuses, which name the submission by
 * `biz_opaque_callback_data`, messages from customers, their choice about marketing, and changes of
 * templates. It answers Meta's challenge of the address. Changes of other fields are skipped.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components
 */
export function whatsappCloudParser(): CallbackParser {
  return { parse: (request) => (request.method === 'GET' ? challenge(request) : parsed(request)) };
}

/** @see https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests */
function challenge({ query }: CallbackRequest): ParsedCallback {
  const given = word(own(query, 'hub.challenge'));
  return given === null
    ? { errors: ['hub.challenge is missing'] }
    : { errors: [], answer: { contentType: 'text/plain', body: given } };
}

function parsed(request: CallbackRequest): ParsedCallback {
  const reports: DeliveryReport[] = [];
  const messages: InboundMessage[] = [];
  const templates: TemplateStatusUpdate[] = [];
  const errors: string[] = [];
  for (const [place, { entry, field, value }] of changesOf(request.body).entries()) {
    if (field === 'message_template_status_update') {
      const update = templateUpdateOf(entry, value);
      if (update) templates.push(update);
      else if (update === undefined) errors.push(`change ${place} names no template or event`);
    }
    if (field === 'user_preferences')
      for (const [n, given] of listOf(value, 'user_preferences').entries()) {
        const choice = preferenceOf(given, value, request.receivedAt);
        if (choice) messages.push(choice);
        else if (choice === undefined)
          errors.push(`preference ${n} of change ${place} has no sender, receiver or value`);
      }
    if (field !== 'messages') continue;
    for (const [n, status] of listOf(value, 'statuses').entries()) {
      const report = reportOf(status, request.receivedAt);
      if (report) reports.push(report);
      else errors.push(`status ${n} of change ${place} has no id or status`);
    }
    for (const [n, message] of listOf(value, 'messages').entries()) {
      const inbound = inboundOf(message, value, request.receivedAt);
      if (inbound) messages.push(inbound);
      else if (inbound === undefined)
        errors.push(`message ${n} of change ${place} has no id, sender or receiver`);
    }
  }
  return { reports, messages, templates, errors };
}

interface Change {
  /** Entry of the business account. */
  readonly entry: unknown;
  readonly field: unknown;
  readonly value: unknown;
}

function changesOf(body: unknown): Change[] {
  return listOf(body, 'entry').flatMap((entry) =>
    listOf(entry, 'changes').map((change) => {
      return { entry, field: own(change, 'field'), value: own(change, 'value') };
    }),
  );
}

function reportOf(status: unknown, now: number): DeliveryReport | undefined {
  const messageId = identifier(own(status, 'id'));
  const rawStatus = word(own(status, 'status'));
  if (messageId === null || rawStatus === null) return undefined;
  const submissionId = identifier(own(status, 'biz_opaque_callback_data'));
  const [error] = listOf(status, 'errors');
  const details = priceDetails(own(status, 'pricing'));
  return {
    ...(submissionId !== null && { submissionId }),
    reference: messageId,
    messageId,
    // Meta's own form of a number may differ from the one that was sent to, and may be a user id.
    recipient: null,
    status: STATUSES.get(rawStatus) ?? null,
    rawStatus,
    errorCode: word(own(error, 'code')),
    providerTime: timeOf(status, now),
    ...(details && { details }),
  };
}

/** Meta's words for categories that cost as one of the four. */
const CATEGORIES = new Map([
  ['authentication_international', 'authentication'],
  ['authentication-international', 'authentication'],
  ['marketing_lite', 'marketing'],
  ['referral_conversion', 'service'],
]);

/** Whether Meta bills the message, and in which category. */
function priceDetails(pricing: unknown): DeliveryReport['details'] {
  const given = word(own(pricing, 'category'))?.toLowerCase();
  const category = CATEGORIES.get(given ?? '') ?? given;
  const type = word(own(pricing, 'type'));
  const billable = own(pricing, 'billable') ?? (type === null ? undefined : type === 'regular');
  const details = {
    ...(typeof billable === 'boolean' && { billable: billable ? 1 : 0 }),
    ...(category !== undefined && { category }),
  };
  return Object.keys(details).length > 0 ? details : undefined;
}

/** `null`: no message of a person, and no choice of one. */
function inboundOf(
  message: unknown,
  value: unknown,
  now: number,
): InboundMessage | null | undefined {
  const choice = own(own(message, 'system'), 'marketing');
  if (choice !== undefined)
    return preferenceOf(
      {
        wa_id: own(message, 'from'),
        user_id: own(message, 'from_user_id'),
        timestamp: own(message, 'timestamp'),
        category: 'marketing_messages',
        value: choice,
      },
      value,
      now,
    );
  const reaction = own(message, 'reaction');
  const isToOne = own(reaction, 'message_id') !== undefined;
  const isInGroup = own(message, 'group_id') !== undefined;
  const type = isInGroup ? 'group' : own(message, 'type');
  const opensWindow = opensWhatsAppWindow(type, isToOne ? own(reaction, 'emoji') : undefined);
  if (opensWindow === undefined) return null;
  const messageId = identifier(own(message, 'id'));
  const from = recipientNumber(own(message, 'from'));
  const bsuid = identifier(own(message, 'from_user_id'));
  const to = receiverOf(value);
  if (messageId === null || to === null || (from === null && bsuid === null)) return undefined;
  const sentAt = timeOf(message, now);
  const text = textOf(message);
  const content = cloudContentOf(message);
  const profileName = profileNameOf(message, value);
  const repliesTo = identifier(own(own(message, 'context'), 'id'));
  return {
    messageId,
    channel: 'whatsapp',
    from,
    bsuid,
    to,
    text,
    ...(content && { content }),
    ...(profileName !== null && { profileName }),
    ...(repliesTo !== null && { repliesTo }),
    sentAt,
    ...(!opensWindow && { opensWindow }),
  };
}

/** Of the sender among the people whom the change names. */
function profileNameOf(message: unknown, value: unknown): string | null {
  const [number, userId] = [own(message, 'from'), own(message, 'from_user_id')];
  const sender = listOf(value, 'contacts').find(
    (contact) =>
      (number !== undefined && own(contact, 'wa_id') === number) ||
      (userId !== undefined && own(contact, 'user_id') === userId),
  );
  return shortTextOf(own(own(sender, 'profile'), 'name'));
}

const PREFERENCES = new Map([
  ['stop', 'opted_out'],
  ['resume', 'opted_in'],
] as const);

/**
 * The person's choice about marketing, in the settings of WhatsApp. It has no id of its own.
 * `null`: of another category.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/user_preferences
 */
function preferenceOf(
  given: unknown,
  value: unknown,
  now: number,
): InboundMessage | null | undefined {
  if (own(given, 'category') !== 'marketing_messages') return null;
  const from = recipientNumber(own(given, 'wa_id'));
  const bsuid = identifier(own(given, 'user_id'));
  const to = receiverOf(value);
  const state = [...PREFERENCES].find(([name]) => name === own(given, 'value'))?.[1];
  const sentAt = timeOf(given, now);
  const sender = from ?? bsuid;
  if (to === null || sender === null || state === undefined) return undefined;
  return {
    messageId: `user_preferences ${sender} ${sentAt?.getTime() ?? now} ${state}`,
    channel: 'whatsapp',
    from,
    bsuid,
    to,
    text: null,
    sentAt,
    opensWindow: false,
    preference: { category: 'marketing', state },
  };
}

function receiverOf(value: unknown): string | null {
  return recipientNumber(own(own(value, 'metadata'), 'display_phone_number'));
}

/** The text or caption, the title of a pressed button or chosen row, or the JSON of a form. */
function textOf(message: unknown): string | null {
  const interactive = own(message, 'interactive');
  const found = [
    own(own(message, 'text'), 'body'),
    own(own(message, 'button'), 'text'),
    own(own(interactive, 'button_reply'), 'title'),
    own(own(interactive, 'list_reply'), 'title'),
    own(own(interactive, 'nfm_reply'), 'response_json'),
    own(own(message, 'order'), 'text'),
    ...['image', 'video', 'document'].map((kind) => own(own(message, kind), 'caption')),
  ];
  return found.map(nonEmpty).find((text) => text !== null) ?? null;
}

function timeOf(of: unknown, now: number): Date | null {
  // A number in changes of preferences.
  const seconds = String(own(of, 'timestamp'));
  const time = /^\d{1,12}$/.test(seconds) ? new Date(Number(seconds) * 1_000) : null;
  return plausible(time, now);
}

function listOf(of: unknown, name: string): readonly unknown[] {
  const list = own(of, name);
  return Array.isArray(list) ? list : [];
}

/** Options of {@link whatsappCloudSignature}. */
export interface WhatsAppCloudSignatureOptions {
  /** Secret of the app in Meta's dashboard; two during a rotation. */
  readonly appSecret: Secrets;
  /** The token that you entered beside the address of the webhook; at least 16 characters. */
  readonly verifyToken: Secrets;
}

const SIGNATURE = {
  appSecret: readSecrets,
  verifyToken: readSecrets,
} satisfies ReadersOf<WhatsAppCloudSignatureOptions>;

const readSignature = group(SIGNATURE);

/**
 * Verifies the webhooks of the WhatsApp Cloud API: `X-Hub-Signature-256` over the bytes of a POST, and
 * the token of the challenge by GET.
 * @throws MessagingConfigError naming the wrong option
 */
export function whatsappCloudSignature(options: WhatsAppCloudSignatureOptions): CallbackVerifier {
  const { appSecret, verifyToken } = readSignature('whatsappCloudSignature', options);
  const signature = hmacSignature({
    secret: appSecret,
    header: 'X-Hub-Signature-256',
    prefix: 'sha256=',
  });
  return {
    verify: (request) => {
      if (request.method !== 'GET') return signature.verify(request);
      const token = own(request.query, 'hub.verify_token');
      return (
        own(request.query, 'hub.mode') === 'subscribe' &&
        typeof token === 'string' &&
        anySame(token, verifyToken)
      );
    },
  };
}

/**
 * Content of a message in a webhook of Meta; `undefined`: a text.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/reference/messages
 */
function cloudContentOf(message: unknown): InboundContent | undefined {
  const type = own(message, 'type');
  if (type === 'text') return undefined;
  return known(type, message) ?? otherOf(type, message);
}

function known(type: unknown, message: unknown): InboundContent | undefined {
  const part = typeof type === 'string' ? own(message, type) : undefined;
  switch (type) {
    case 'image':
    case 'video':
    case 'document':
    case 'sticker':
      return file(type, part);
    case 'audio':
      return file(own(part, 'voice') === true ? 'voice' : 'audio', part);
    case 'location':
      return locationOf(part);
    case 'contacts':
      return contactsOf(part);
    case 'reaction':
      return reactionOf(own(part, 'emoji'), own(part, 'message_id'));
    case 'button':
      return buttonOf(own(part, 'text'), own(part, 'payload'));
    case 'interactive':
      return answer(part);
    default:
      return undefined;
  }
}

function file(type: InboundFile['type'], part: unknown): InboundContent | undefined {
  const given = {
    type,
    contentType: own(part, 'mime_type'),
    filename: own(part, 'filename'),
    source: own(part, 'id'),
  };
  return mediaOf([given], own(part, 'caption'));
}

/** Of an interactive message. */
function answer(part: unknown): InboundContent | undefined {
  const [button, row, form] = ['button_reply', 'list_reply', 'nfm_reply'].map((name) =>
    own(part, name),
  );
  if (button !== undefined) return buttonOf(own(button, 'title'), own(button, 'id'));
  if (row !== undefined) return rowOf(row);
  return form === undefined ? undefined : flowOf(own(form, 'name'), own(form, 'response_json'));
}
