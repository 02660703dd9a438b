/** Cause of a bounce, for the sender of the message. */
export type BounceCategory = 'recipient' | 'mailbox_full' | 'block' | 'content' | 'other';

/** Details of a bounce or a delay, stored with the report. */
export type BounceDetails = {
  readonly category: BounceCategory;
  readonly smtp_code: number | null;
  /** RFC 3463, such as `5.1.1`. */
  readonly enhanced_code: string | null;
  /** Text of the server, at most 255 characters. */
  readonly diagnostic: string | null;
  readonly remote_mta: string | null;
};

/** By subject and detail of the enhanced code, then by subject (RFC 3463). */
const CATEGORIES: Readonly<Record<string, BounceCategory>> = {
  '1': 'recipient',
  '1.7': 'other', // the sender's address
  '1.8': 'other',
  '2.1': 'recipient',
  '2.2': 'mailbox_full',
  '2.3': 'content',
  '3.4': 'content', // too large
  '6': 'content',
  '7': 'block',
};

const FULL = /\b(quota|mailbox (is )?full|over ?quota|insufficient storage|exceeded storage)\b/i;
const BLOCK = /\b(spam|blocked|blacklist|block ?list|denied|policy|reputation|dnsbl|rbl)\b/i;
const NO_MAILBOX =
  /\b(no such|unknown|not (found|exist)|does(n't| not) exist|invalid|unavailable|disabled)\b/i;
const MAILBOX = /\b(user|mailbox|recipient|address|account)\b/i;

/** Classifies a refusal by its enhanced code, and without one by code and text. */
export function categoryOf(
  code: number | null,
  enhanced: string | null,
  text: string,
): BounceCategory {
  const [, subject, detail] = /^[245]\.(\d{1,3})\.(\d{1,3})$/.exec(enhanced ?? '') ?? [];
  if (subject !== undefined)
    return CATEGORIES[`${subject}.${detail}`] ?? CATEGORIES[subject] ?? 'other';
  if (FULL.test(text) || code === 552) return 'mailbox_full';
  if (BLOCK.test(text)) return 'block';
  return NO_MAILBOX.test(text) && MAILBOX.test(text) ? 'recipient' : 'other';
}

/** The code, the enhanced code and the text of an answer such as `550 5.1.1 No such user`. */
export function readAnswer(answer: string): {
  readonly code: number | null;
  readonly enhanced: string | null;
  readonly text: string | null;
} {
  const line = answer
    .slice(0, 4_096)
    .replaceAll(/[\p{Cc}\p{Cs}]+(\d{3}[ -])?/gu, ' ')
    .trim();
  const [, code, enhanced] = /^([245]\d\d)?[ -]?(?:([245]\.\d{1,3}\.\d{1,3})\b)?/.exec(line) ?? [];
  return {
    code: code === undefined ? null : Number(code),
    enhanced: enhanced ?? null,
    text: line.slice(0, 255).trim() || null,
  };
}

export function bounceDetails(answer: string, remoteMta: string | null): BounceDetails {
  const { code, enhanced, text } = readAnswer(answer);
  return {
    category: categoryOf(code, enhanced, text ?? ''),
    smtp_code: code,
    enhanced_code: enhanced,
    diagnostic: text,
    remote_mta: remoteMta,
  };
}
