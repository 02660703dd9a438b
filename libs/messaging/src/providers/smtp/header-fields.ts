import { domainToASCII } from 'node:url';
import { encodeWord, foldLines, quoteString } from 'nodemailer/lib/mime-funcs';
import type { Mailbox } from '../../message/email-content.js';
import { PermanentFailure } from '../../message/errors.js';

/** A header field: its name, and the folded lines with the name and without the last CRLF. */
export interface HeaderField {
  readonly name: string;
  readonly lines: string;
}

/** Longest line of a message without CRLF (RFC 5322, 2.1.1). */
const LONGEST_LINE = 998;
/** Room for the name of the field in its first line. */
const LONGEST_TOKEN = 900;

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

/**
 * A field whose value has only characters that a header may contain.
 * @throws PermanentFailure where the value has a line break or a control character, or is too long
 */
export function headerField(name: string, value: string): HeaderField {
  if (/[\p{Cc}\p{Cs}]/u.test(value))
    throw invalid(`The header ${name} has a line break or a control character`);
  const lines = foldLines(`${name}: ${value}`, 76);
  if (lines.split('\r\n').some((line) => Buffer.byteLength(line) > LONGEST_LINE))
    throw invalid(`The header ${name} has a word that is too long to fold`);
  return { name, lines };
}

/** A field of the caller, whose name is checked, too. */
export function customField(name: string, value: string): HeaderField {
  const lower = name.toLowerCase();
  if (
    !/^[A-Za-z][A-Za-z0-9-]{0,76}$/.test(name) ||
    OURS.has(lower) ||
    /^(content|resent|x-smtpapi)/.test(lower)
  )
    throw invalid('A header of the message is not allowed; leave it out');
  // An encoded word in a structured field would no longer be an identifier.
  return headerField(name, /[^\x20-\x7e]/.test(value) ? encoded(value) : value);
}

/** The words of a subject or name; those outside of printable ASCII, or too long, are encoded. */
export function encoded(text: string): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ');
  const isPlain =
    !/[^\x20-\x7e]|=\?/.test(clean) &&
    clean.split(' ').every((word) => word.length < LONGEST_TOKEN);
  if (isPlain) return clean;
  const letters = clean.replaceAll(/[^A-Za-z]/g, '').length;
  return encodeWord(clean, letters * 2 > clean.length ? 'Q' : 'B', 52);
}

export function addressList(mailboxes: readonly Mailbox[]): string {
  return mailboxes.map(mailboxText).join(', ');
}

function mailboxText({ email, name }: Mailbox): string {
  const address = wireAddress(email);
  const clean = name?.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
  if (!clean) return address;
  const words = encoded(clean);
  const phrase = words !== clean || /^[\w ]+$/.test(clean) ? words : quoteString(clean);
  return `${phrase} <${address}>`;
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
