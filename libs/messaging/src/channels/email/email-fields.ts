import type { CheckedContent } from '../../message/channel-definition.js';
import type { EmailContent, Mailbox } from '../../message/content/email-content.js';
import { type FieldError, MessageValidationError } from '../../message/errors.js';
import { readMailbox } from '../../message/mailbox.js';
import { checkAttachments } from './email-attachments.js';
import { listOf, MOST_SHOWN } from './email-recipients.js';
import { parsedUrl } from '../../message/url.js';

type Given = Readonly<Record<string, unknown>>;

const MOST_SUBJECT = 998;
const MOST_TEXT = 5 * 1_024 * 1_024;
const MOST_REPLY_TO = 10;

/** Other headers could change the message's way or its meaning at a provider. */
const HEADERS = [
  'In-Reply-To',
  'References',
  'List-Id',
  'Auto-Submitted',
  'Importance',
  'X-Entity-Ref-ID',
  'X-Priority',
];

const EMAIL_CATEGORIES = ['transactional', 'marketing'] as const;

/**
 * Checks and normalises the content of an email. Mailboxes are compared by their address.
 * @throws MessageValidationError `payload_too_large`
 */
export function checkEmail(given: Given, maxSize: number, errors: FieldError[]): CheckedContent {
  const from = readMailbox(given['from'], 'from', errors);
  const seen = new Set<string>();
  const [to, cc] = [shown('to', given, seen, errors), shown('cc', given, seen, errors)];
  const replyTo = firstOf(given['replyTo'], MOST_REPLY_TO).flatMap(
    (entry, index) => readMailbox(entry, `replyTo[${index}]`, errors) ?? [],
  );
  if (listOf(given['replyTo']).length > MOST_REPLY_TO)
    errors.push({ path: 'replyTo', message: `must have at most ${MOST_REPLY_TO} addresses` });
  const { infos, stored } = checkAttachments(given['attachments'], errors);
  const [text, html] = [textOf('text', given, errors), textOf('html', given, errors)];
  if ([given['text'], given['html']].every((one) => one === undefined || one === ''))
    errors.push({ path: 'text', message: 'must be a text, unless html is one' });
  const headers = checkHeaders(given['headers'], errors);
  const category = checkCategory(given, errors);
  const unsubscribeUrl = checkUnsubscribeUrl(given, errors);
  const content: EmailContent = {
    kind: 'email',
    from: from ?? { email: '' },
    ...(to.length > 0 && { to }),
    ...(cc.length > 0 && { cc }),
    ...(replyTo.length > 0 && { replyTo }),
    subject: checkSubject(given['subject'], errors),
    ...(text !== undefined && { text }),
    ...(html !== undefined && { html }),
    ...(headers && { headers }),
    ...(infos.length > 0 && { attachments: infos }),
    ...(category !== undefined && { category }),
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
  };
  const size = sizeOf(content);
  if (size > maxSize && errors.length === 0)
    throw new MessageValidationError(
      [
        {
          path: infos.length > 0 ? 'attachments' : 'html',
          message: `make a message of ${size} octets; shorten it to at most ${maxSize}`,
        },
      ],
      'payload_too_large',
    );
  return { content, ...(stored.length > 0 && { attachments: stored }) };
}

/** Octets of the whole message before its encoding, with 2 KiB for other fields of the header. */
export function sizeOf(content: EmailContent): number {
  const { to = [], cc = [], text = '', html = '', subject, attachments = [] } = content;
  const mailboxes = [...to, ...cc].reduce(
    (sum, { email, name = '' }) => sum + email.length + 2 * Buffer.byteLength(name) + 8,
    0,
  );
  return (
    2_048 +
    mailboxes +
    Buffer.byteLength(subject) +
    Buffer.byteLength(text) +
    Buffer.byteLength(html) +
    attachments.reduce((sum, { size, filename }) => sum + size + Buffer.byteLength(filename), 0)
  );
}

/** The first items of a list that is too long and refused. */
function firstOf(given: unknown, most: number): readonly unknown[] {
  return listOf(given).slice(0, most);
}

function shown(
  field: 'to' | 'cc',
  given: Given,
  seen: Set<string>,
  errors: FieldError[],
): Mailbox[] {
  return firstOf(given[field], MOST_SHOWN).flatMap((entry, index) => {
    const own: FieldError[] = [];
    const mailbox = readMailbox(entry, `${field}[${index}]`, own);
    // Of a send, the reader of the recipients has named it; an estimate has none.
    errors.push(...own.filter(({ path }) => errors.every((known) => known.path !== path)));
    if (!mailbox || seen.has(mailbox.email)) return [];
    seen.add(mailbox.email);
    return mailbox;
  });
}

function checkSubject(subject: unknown, errors: FieldError[]): string {
  const isSound =
    typeof subject === 'string' &&
    subject !== '' &&
    Buffer.byteLength(subject) <= MOST_SUBJECT &&
    !/[\r\n\0\p{Cs}]/u.test(subject);
  if (isSound) return subject;
  errors.push({
    path: 'subject',
    message: `must be a text of 1 to ${MOST_SUBJECT} octets, without line breaks and NUL`,
  });
  return '';
}

function textOf(field: 'text' | 'html', given: Given, errors: FieldError[]): string | undefined {
  const value = given[field];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && !/[\0\p{Cs}]/u.test(value)) {
    if (Buffer.byteLength(value) <= MOST_TEXT) return value;
    errors.push({ path: field, message: `must have at most ${MOST_TEXT} octets` });
  } else errors.push({ path: field, message: 'must be a text without NUL' });
  return undefined;
}

function checkHeaders(given: unknown, errors: FieldError[]): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    errors.push({ path: 'headers', message: 'must be an object of texts' });
    return undefined;
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const known = HEADERS.find((header) => header.toLowerCase() === name.toLowerCase());
    const path = `headers.${name.slice(0, 64)}`;
    if (!known || Object.hasOwn(headers, known))
      errors.push({ path, message: `must be one of ${HEADERS.join(', ')}, each once` });
    else if (typeof value !== 'string' || !/^[\x20-\x7e]{1,998}$/.test(value))
      errors.push({ path, message: 'must be 1 to 998 printable ASCII characters' });
    else headers[known] = value;
  }
  return Object.keys(headers).length > 0 ? headers : undefined;
}

function checkCategory(
  { category }: Given,
  errors: FieldError[],
): EmailContent['category'] | undefined {
  const known = EMAIL_CATEGORIES.find((one) => one === category);
  if (category !== undefined && !known)
    errors.push({ path: 'category', message: `must be ${EMAIL_CATEGORIES.join(' or ')}` });
  return known;
}

function checkUnsubscribeUrl(given: Given, errors: FieldError[]): string | undefined {
  const url = given['unsubscribeUrl'];
  if (url === undefined) return undefined;
  const isHttps =
    typeof url === 'string' &&
    /^https:\/\/[\x21-\x3b\x3d\x3f-\x7e]{1,842}$/.test(url) &&
    parsedUrl(url) !== undefined;
  if (!isHttps)
    errors.push({
      path: 'unsubscribeUrl',
      message: 'must be an https URL of at most 850 characters',
    });
  else if (given['category'] !== 'marketing')
    errors.push({ path: 'unsubscribeUrl', message: 'needs category marketing' });
  return isHttps ? url : undefined;
}
