import { encodeWord, foldLines, quoteString } from 'nodemailer/lib/mime-funcs';
import type { Mailbox } from '../../message/content/email-content.js';
import { checkHeaderName, checkHeaderValue, invalid, wireAddress } from '../email/mail-parts.js';

/** A header field: its name, and the folded lines with the name and without the last CRLF. */
export interface HeaderField {
  readonly name: string;
  readonly lines: string;
}

/** Longest line of a message without CRLF (RFC 5322, 2.1.1). */
const LONGEST_LINE = 998;
/** Room for the name of the field in its first line. */
const LONGEST_TOKEN = 900;

/**
 * A field whose value has only characters that a header may contain.
 * @throws PermanentFailure where the value has a line break or a control character, or is too long
 */
export function headerField(name: string, value: string): HeaderField {
  checkHeaderValue(name, value);
  const lines = foldLines(`${name}: ${value}`, 76);
  if (lines.split('\r\n').some((line) => Buffer.byteLength(line) > LONGEST_LINE))
    throw invalid(`The header ${name} has a word that is too long to fold`);
  return { name, lines };
}

/** A field of the caller, whose name is checked, too. */
export function customField(name: string, value: string): HeaderField {
  checkHeaderName(name);
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
