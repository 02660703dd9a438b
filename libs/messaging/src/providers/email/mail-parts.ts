import { domainToASCII } from 'node:url';
import { convert } from 'html-to-text';
import {
  addresseesOf,
  type Attachment,
  type EmailContent,
  invitationMethod,
  type Mailbox,
} from '../../message/content/email-content.js';
import { PermanentFailure, UnroutableFailure } from '../../message/errors.js';
import { personalised } from '../../message/variables.js';
import type { Submission } from '../../ports/message-transport.js';
import { callback, optional, type ReadersOf } from '../../ports/option-schema.js';

/** Text is derived from at most so many characters of html: more would hold the process up. */
const LONGEST_DERIVED = 1_048_576;

/** https, as RFC 8058 asks; http at this machine, for development. */
const UNSUBSCRIBE_URL =
  /^(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/])(?:(?![<>])[\x21-\x7e]){1,850}$/;

/** Fields that only the composer writes; a custom header of this name is refused. */
const OURS = new Set([
  'bcc',
  'cc',
  'date',
  'dkim-signature',
  'from',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'message-id',
  'mime-version',
  'received',
  'reply-to',
  'return-path',
  'sender',
  'subject',
  'to',
]);

/** Options of every provider of email. */
export interface MailOptions {
  /** One-click page of a recipient, for marketing messages without `unsubscribeUrl`. */
  readonly unsubscribeUrl?: (message: {
    /** `{batchId}-{position}` of the message, as `EmailService.recordEvent()` takes it. */
    readonly id: string;
    /** Owner of the message; `''`: its send named none. */
    readonly tenant: string;
    /** E-mail address. */
    readonly recipient: string;
  }) => string;
}

export type UnsubscribeUrl = MailOptions['unsubscribeUrl'];

export const MAIL_OPTIONS = {
  unsubscribeUrl: optional(callback<NonNullable<UnsubscribeUrl>>()),
} satisfies ReadersOf<MailOptions>;

/** The email of a submission, for a provider that composes it. */
export interface MailParts extends Record<'to' | 'cc' | 'bcc', readonly Mailbox[]> {
  readonly from: Mailbox;
  readonly replyTo: readonly Mailbox[];
  readonly subject: string;
  readonly text: string | undefined;
  readonly html: string | undefined;
  /** Those of the content, and `List-Unsubscribe` of a marketing message. */
  readonly headers: Readonly<Record<string, string>>;
  /** One with a `contentId` is inline. */
  readonly attachments: readonly Attachment[];
}

interface Carrier {
  /** Name of the provider at the start of a sentence. */
  readonly by: string;
  /** Most octets of texts and attachments, these in base64. */
  readonly maxSize: number;
  readonly unsubscribeUrl: UnsubscribeUrl;
}

/**
 * @throws PermanentFailure where the content cannot be a message
 * @throws UnroutableFailure where it can, but not one of this provider
 */
export function mailOf(submission: Submission, { by, maxSize, ...carrier }: Carrier): MailParts {
  const { recipients, personal, attachments = [] } = submission;
  const whole = withText(emailIn(submission));
  const content = personalised(whole, recipients.length === 1 ? personal?.[0] : undefined);
  const { from, replyTo = [], subject, text, html, headers = {} } = content;
  if (attachments.some(({ contentType }) => invitationMethod(contentType)))
    throw unroutable(`${by} carries no calendar invitations`);
  const size = attachments.reduce(
    (sum, { content: { length } }) => sum + Math.ceil(length / 3) * 4,
    Buffer.byteLength(text ?? '') + Buffer.byteLength(html ?? ''),
  );
  if (size > maxSize)
    throw new UnroutableFailure(
      'content_too_long',
      `${by} takes emails of up to ${maxSize} octets`,
    );
  const unsubscribe = unsubscribeHeaders(content, unsubscribeUrlOf(submission, carrier, by));
  for (const [name, value] of Object.entries(headers)) {
    checkHeaderName(name);
    checkHeaderValue(name, value);
    if (/[^\x20-\x7e]/.test(value)) throw unroutable(`${by} takes headers of ASCII only`);
  }
  return {
    ...mailboxesOf(content, submission, by),
    from: wireMailbox(from),
    replyTo: replyTo.map(wireMailbox),
    subject,
    text,
    html,
    headers: { ...headers, ...Object.fromEntries(unsubscribe) },
    attachments: attachments.map(({ contentId, ...file }) => ({
      ...file,
      ...(contentId !== undefined && html !== undefined && { contentId }),
    })),
  };
}

/** @throws PermanentFailure for another content */
export function emailIn({ content }: Submission): EmailContent {
  if (content.kind === 'email') return content as EmailContent;
  throw invalid('This transport sends e-mail only', 'unsupported_content');
}

/** A hidden recipient that is alone in its request is shown as `to`. */
function mailboxesOf(
  content: EmailContent,
  { recipients, personal }: Submission,
  by: string,
): Pick<MailParts, 'to' | 'cc' | 'bcc'> {
  const { to, cc, bcc } = addresseesOf(content, recipients);
  const hidden = bcc.map((email) => wireMailbox({ email }));
  if (to.length > 0) return { to: to.map(wireMailbox), cc: cc.map(wireMailbox), bcc: hidden };
  const [only, ...others] = hidden;
  if (!only || others.length > 0)
    throw unroutable(`${by} sends no email to hidden recipients alone`);
  return { to: [wireMailbox({ ...personal?.[0], email: only.email })], cc: [], bcc: [] };
}

/** Derived texts by content, which the submissions of one plan share. */
const TEXTS = new WeakMap<EmailContent, EmailContent>();

/** With text from the html where there is none; an empty text turns that off. */
export function withText(content: EmailContent): EmailContent {
  const known = TEXTS.get(content);
  if (known) return known;
  const whole = derived(content);
  TEXTS.set(content, whole);
  return whole;
}

function derived(content: EmailContent): EmailContent {
  const { text, html } = content;
  if (text === '' && html) {
    const { text: _none, ...rest } = content;
    return rest;
  }
  if (text !== undefined || !html) return content;
  const made = convert(html.slice(0, LONGEST_DERIVED), {
    wordwrap: false,
    limits: { maxDepth: 100 },
    selectors: [{ selector: 'img', format: 'skip' }],
  });
  return made.trim() === '' ? content : { ...content, text: made };
}

/** Address of the one-click page that the option makes, where the content has none. */
function unsubscribeUrlOf(
  submission: Submission,
  { unsubscribeUrl }: Pick<Carrier, 'unsubscribeUrl'>,
  by: string,
): string | undefined {
  const { id, tenant, recipients, messageIds } = submission;
  const content = emailIn(submission);
  const isMissing = content.category === 'marketing' && content.unsubscribeUrl === undefined;
  const [recipient] = recipients;
  if (!unsubscribeUrl || !isMissing || recipient === undefined) return undefined;
  if (recipients.length > 1)
    throw unroutable(`${by} has one unsubscribe page for recipients who see each other`);
  return unsubscribeUrl({ id: messageIds?.[0] ?? id, tenant, recipient });
}

/**
 * The header of a marketing message (RFC 8058).
 * @param given page of the recipient, where the content has none
 */
export function unsubscribeHeaders(
  { category, unsubscribeUrl: own }: EmailContent,
  given: string | undefined,
): readonly (readonly [name: string, value: string])[] {
  if (category !== 'marketing') return [];
  const url = own ?? given;
  if (url === undefined)
    throw invalid(
      'A marketing message needs unsubscribeUrl, or the option unsubscribeUrl of its provider',
      'no_unsubscribe_url',
    );
  if (!UNSUBSCRIBE_URL.test(url))
    throw invalid(
      'unsubscribeUrl must be an https address of at most 850 characters',
      'invalid_unsubscribe_url',
    );
  return [
    ['List-Unsubscribe', `<${url}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}

/** @throws PermanentFailure for a field that only the composer writes, or another word */
export function checkHeaderName(name: string): void {
  const lower = name.toLowerCase();
  if (
    !/^[A-Za-z][A-Za-z0-9-]{0,76}$/.test(name) ||
    OURS.has(lower) ||
    /^(content|resent|x-smtpapi)/.test(lower)
  )
    throw invalid('A header of the message is not allowed; leave it out');
}

/** @throws PermanentFailure where a value has characters that no header may contain */
export function checkHeaderValue(name: string, value: string): void {
  if (/[\p{Cc}\p{Cs}]/u.test(value))
    throw invalid(`The header ${name} has a line break or a control character`);
}

/** `Ada <ada@example.com>`, with quotes where the name needs them; its letters stay. */
export function mailboxText({ email, name }: Mailbox): string {
  if (name === undefined) return email;
  const phrase = /[^\p{L}\p{M}\p{N} '!#$%&*+/=?^_`{|}~-]/u.test(name)
    ? `"${name.replaceAll(/["\\]/g, '\\$&')}"`
    : name;
  return `${phrase} <${email}>`;
}

function wireMailbox({ email, name }: Mailbox): Mailbox {
  const clean = name?.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
  return { email: wireAddress(email), ...(clean && { name: clean }) };
}

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+";
const LOCAL_PART = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, 'u');
const DOMAIN =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The address in the only form that is sent: a dot-atom, `@`, and a domain of A-labels. Quoted
 * local parts, comments and routes, which servers read in different ways, are refused.
 * @throws PermanentFailure
 */
export function wireAddress(email: string): string {
  const at = email.lastIndexOf('@');
  const local = email.slice(0, Math.max(0, at));
  const given = email.slice(at + 1);
  const domain = /^[a-z0-9.-]+$/.test(given)
    ? given
    : /^[A-Za-z0-9.\-\u0080-\u{10ffff}]+$/u.test(given)
      ? domainToASCII(given)
      : '';
  const isSound =
    LOCAL_PART.test(local) &&
    // Some parsers decode a text that looks like an encoded word, also in an address.
    !/[\p{Cc}\p{Cs}\p{Z}]|=\?/u.test(local) &&
    Buffer.byteLength(local) <= 64 &&
    DOMAIN.test(domain) &&
    Buffer.byteLength(local) + domain.length < 254;
  if (!isSound) throw invalid('An address of the message has no valid form', 'invalid_address');
  return `${local}@${domain}`;
}

export function invalid(message: string, code = 'invalid_content'): PermanentFailure {
  return new PermanentFailure(code, message);
}

function unroutable(message: string): UnroutableFailure {
  return new UnroutableFailure('unsupported_content', message);
}
