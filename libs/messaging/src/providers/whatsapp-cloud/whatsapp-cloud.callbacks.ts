import { anySame, hmacSignature, readSecrets } from '../../callbacks/verifiers.js';
import type { DeliveryReport, InboundMessage } from '../../message/events.js';
import type { TemplateStatusUpdate } from '../../message/templates.js';
import { identifier, own, plausible, recipientNumber, word } from '../../message/report-fields.js';
import type {
  CallbackParser,
  CallbackRequest,
  CallbackVerifier,
  ParsedCallback,
} from '../../ports/callback-parser.js';
import { group, type OptionsOf } from '../../ports/option-schema.js';
import { templateUpdateOf } from './graph-templates.js';

const STATUSES = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['failed', 'failed'],
]);

/**
 * Parser of the webhooks of Meta's WhatsApp Cloud API: statuses, which name the submission by
 * `biz_opaque_callback_data`, messages from customers, and changes of templates. It answers Meta's
 * challenge of the address. Changes of other fields are skipped.
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
    if (field !== 'messages') continue;
    for (const [n, status] of listOf(value, 'statuses').entries()) {
      const report = reportOf(status, request.receivedAt);
      if (report) reports.push(report);
      else errors.push(`status ${n} of change ${place} has no id or status`);
    }
    for (const [n, message] of listOf(value, 'messages').entries()) {
      const inbound = inboundOf(message, value, request.receivedAt);
      if (inbound) messages.push(inbound);
      else errors.push(`message ${n} of change ${place} has no id, sender or receiver`);
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

function inboundOf(message: unknown, value: unknown, now: number): InboundMessage | undefined {
  const messageId = identifier(own(message, 'id'));
  const from = recipientNumber(own(message, 'from'));
  const bsuid = identifier(own(message, 'from_user_id'));
  const to = recipientNumber(own(own(value, 'metadata'), 'display_phone_number'));
  if (messageId === null || to === null || (from === null && bsuid === null)) return undefined;
  const sentAt = timeOf(message, now);
  return { messageId, channel: 'whatsapp', from, bsuid, to, text: textOf(message), sentAt };
}

/** The text, or the title of a pressed button or chosen row; `null` for media and others. */
function textOf(message: unknown): string | null {
  const interactive = own(message, 'interactive');
  const found = [
    own(own(message, 'text'), 'body'),
    own(own(message, 'button'), 'text'),
    own(own(interactive, 'button_reply'), 'title'),
    own(own(interactive, 'list_reply'), 'title'),
  ].find((text) => typeof text === 'string');
  return typeof found === 'string' ? found : null;
}

function timeOf(of: unknown, now: number): Date | null {
  const seconds = own(of, 'timestamp');
  const time =
    typeof seconds === 'string' && /^\d{1,12}$/.test(seconds)
      ? new Date(Number(seconds) * 1_000)
      : null;
  return plausible(time, now);
}

function listOf(of: unknown, name: string): readonly unknown[] {
  const list = own(of, name);
  return Array.isArray(list) ? list : [];
}

const SIGNATURE = {
  /** Secret of the app in Meta's dashboard; two during a rotation. */
  appSecret: readSecrets,
  /** The token that you entered beside the address of the webhook; at least 16 characters. */
  verifyToken: readSecrets,
};

/** Options of {@link whatsappCloudSignature}. */
export type WhatsAppCloudSignatureOptions = OptionsOf<typeof SIGNATURE>;

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
