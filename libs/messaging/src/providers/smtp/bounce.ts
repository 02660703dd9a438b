/** Cause of a bounce, for the sender of the message. Only `recipient` suppresses the address. */
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

/** A failure in the words of a server and of its relay. */
export interface Refusal {
  /** Answer of the server that refused the message: its code overrides that of the relay. */
  readonly answer: string;
  readonly remoteMta: string | null;
  /** Enhanced code of the relay. @default none */
  readonly status?: string | null | undefined;
  /** The server had accepted the recipient. @default as the words of the notification say */
  readonly isOfContent?: boolean;
}

/** The words of a notification, which decide where answer and codes say nothing. */
export interface Words {
  /** The answer that they cite, from its code on; `''`: none. */
  readonly answer: string;
  readonly text: string;
}

interface Codes {
  readonly code: number | null;
  readonly enhanced: string | null;
}

interface Refused extends Codes {
  readonly isOfRelay: boolean;
  readonly isOfContent: boolean;
}

/** By subject and detail of the enhanced code, then by subject (RFC 3463); else the text decides. */
const CATEGORIES: Readonly<Record<string, BounceCategory>> = {
  '1.1': 'recipient',
  '1.2': 'recipient',
  '1.3': 'recipient',
  '1.6': 'recipient',
  '1.10': 'recipient',
  '1.351': 'recipient',
  '1.7': 'block', // the sender's address
  '1.8': 'block',
  '2.2': 'mailbox_full',
  '2.3': 'content',
  '3.4': 'content', // too large
  '6': 'content',
  '7': 'block',
};

/**
 * Words of refusals, in the order in which they count. Those of block lists and full mailboxes come
 * before those of missing addresses: one block list must not suppress the addresses of a campaign.
 * No repetition is within another one, so that each takes linear time.
 */
const WORDS: readonly (readonly [BounceCategory, RegExp])[] = [
  [
    'block',
    /\b(black|block|deny)[ -]?list|(?<!not |n't )\blisted (in|at|on|by)\b|\b(dnsbl|rbl|spamhaus|spamcop|sorbs|barracuda|uceprotect|[sx]bl|reputation|throttl(ed|ing)|relay(ing)?|reverse dns|ptr record|helo)\b/,
  ],
  [
    'block',
    /\byour (ip|host|server|domain|network|mail server)\b|\bip (address )?([\d.]{7,15} |\[[\d.]{7,15}\] )?(is |has been |was )?(not (allowed|permitted|authorized)|rejected|refused|blocked|listed)\b/,
  ],
  [
    'block',
    /\b(sender|envelope.from|mail from|client host|sending ip)\b|\b(at a|rate|frequency) (rate|limit)|\btoo many\b|\brecipient preferences\b/,
  ],
  // Filters of Japanese carriers, which leave the address out.
  ['block', /^\W*5\d\d:? +: user unknown/],
  [
    'mailbox_full',
    /\bquota|\b(mail)?(box|folder) (is )?full\b|\b(mail ?box|storage) (size|limit)\b|\bout of storage|\binsufficient storage|\bexceeded storage/,
  ],
  ['other', /\bnot found, try again/],
  [
    'recipient',
    /\b(no such|unknown|non-?existent) (local |virtual )?(e-?mail )?(user|mail ?box|recipient|address|account|person|domain|host)|\binvalid (final delivery )?(e-?mail )?(user|mail ?box|recipient|address|account)|\bno (mail ?box|valid recipients)\b/,
  ],
  [
    'recipient',
    /\b(user|mail ?box|recipient|address|account|domain|host)\b.{0,80}\b(unknown|not (be )?(found|known|exist|listed|recogni[sz]ed)|does(n't| not) (exist|have a)|is not a|no longer on)\b/,
  ],
  [
    'recipient',
    /\b(unrouteable address|a mail exchanger|no mx record|any host named|null mx|no smtp service|recipnotfound)\b|\bdomain is not reachable|\bmail ?box (is )?(currently )?unavailable|recipient address rejected\W*$/,
  ],
  ['block', /\b(spam|blocked|denied|policy|banned|unsolicited|spf|dkim|dmarc|authenticat\w*)\b/],
  [
    'content',
    /\b(too (large|big|long)|size (limit|exceeds?)|exceed(s|ed)?( \w+)? size|content (was |is |has been )?(rejected|refused|denied)|virus)\b/,
  ],
];

/** Of a name with 5.4.4. */
const NO_HOST = /\b(invalid|illegal) (host|domain)/;

/** Of a mailbox with 5.2.1. */
const DISABLED = /\b(disabled|inactive|not active|suspended|deactivated|discontinued|closed)\b/;

/** Carriers' filters answer the content with these words, after they accepted the recipient. */
const UNKNOWN_USER = /\b(unknown user|user unknown|no such user)\b/;
const AFTER_DATA =
  /\b(end of data|to data command|our final data|text command|command data)\b|>>> ?data\b/;

/** Addresses, whose names are no words of the server. */
const ADDRESSES = /[^\s<>@"]{0,64}@[\w.-]{1,255}/g;

const SMTP_CODE = /(?<![\w.:#-])([45]\d\d)(?=[\s:,\]'"-]|$)/;
const AFTER_CODE = /^\W{0,6}([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)/;
const ENHANCED_CODE = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)/;

/** The one classifier: of an answer in the SMTP session, and of a notification. */
export function bounceDetails(
  { answer, status, remoteMta, isOfContent = false }: Refusal,
  words?: () => Words,
): BounceDetails {
  const isSilent = answer === '' && (status?.endsWith('.0.0') ?? true);
  const said = isSilent ? (words?.().answer ?? '') : answer;
  const own = codesIn(said);
  const codes = [own.enhanced, status ?? null];
  const enhanced =
    codes.find((one) => one !== null && !one.endsWith('.0.0')) ?? codes.find(Boolean) ?? null;
  return {
    category: categoryOf(
      { code: own.code, enhanced, isOfRelay: enhanced !== own.enhanced, isOfContent },
      said,
      words,
    ),
    smtp_code: own.code,
    enhanced_code: enhanced,
    diagnostic: readAnswer(said).text,
    remote_mta: remoteMta,
  };
}

function categoryOf(
  { code, enhanced, isOfRelay, isOfContent }: Refused,
  said: string,
  words?: () => Words,
): BounceCategory {
  const [, subject = '', detail = ''] = /^[245]\.(\d{1,3})\.(\d{1,3})$/.exec(enhanced ?? '') ?? [];
  const byCode = CATEGORIES[`${subject}.${detail}`] ?? CATEGORIES[subject];
  if (byCode !== undefined && byCode !== 'recipient') return byCode;
  const text = plain(said);
  const byText = categoryIn(text);
  if (byCode === 'recipient') {
    const isOther = isOfRelay
      ? byText !== undefined || code === 552
      : byText === 'block' || byText === 'mailbox_full';
    if (!isOther || byText === 'recipient') return byCode;
  }
  const notice = byText === undefined || byText === 'recipient' ? plain(words?.().text ?? '') : '';
  // Microsoft's answer for a recipient that its directory does not have.
  if (subject === '4' && detail === '1' && text.includes('access denied')) return 'recipient';
  if (subject === '2' && detail === '1' && byText === undefined && DISABLED.test(text))
    return 'recipient';
  if (subject === '4' && detail === '4' && NO_HOST.test(text || notice)) return 'recipient';
  if (byText === undefined && code === 552) return 'mailbox_full';
  const found = byText ?? categoryIn(notice) ?? 'other';
  const isFilter = UNKNOWN_USER.test(text || notice) && (isOfContent || AFTER_DATA.test(notice));
  return found === 'recipient' && isFilter ? 'block' : found;
}

function categoryIn(text: string): BounceCategory | undefined {
  return WORDS.find(([, words]) => words.test(text))?.[0];
}

function plain(text: string): string {
  return text.slice(0, 4_096).replaceAll(ADDRESSES, '@').replaceAll(/\s+/g, ' ').toLowerCase();
}

/** The first codes of a text: an enhanced one after its SMTP code, else the first. */
function codesIn(text: string): Codes {
  const own = readAnswer(text);
  if (own.code !== null) return own;
  const bounded = text.slice(0, 4_096);
  const smtp = SMTP_CODE.exec(bounded);
  const after = smtp ? bounded.slice(smtp.index + 3, smtp.index + 24) : '';
  const [, enhanced] = AFTER_CODE.exec(after) ?? ENHANCED_CODE.exec(bounded) ?? [];
  return { code: smtp ? Number(smtp[1]) : null, enhanced: enhanced ?? null };
}

/** A failure after retries ran out says nothing of the recipient: it is `expired`. */
export function statusOfBounce({
  smtp_code: code,
  enhanced_code: enhanced,
}: BounceDetails): 'bounced' | 'expired' {
  const isExpired =
    enhanced === '5.4.7' || enhanced?.startsWith('4.') || (code !== null && code < 500);
  return isExpired ? 'expired' : 'bounced';
}

/** Error code of a bounce; `null`: it names none. */
export function codeOfBounce({
  smtp_code: code,
  enhanced_code: enhanced,
}: BounceDetails): string | null {
  return enhanced ?? (code === null ? null : String(code));
}

/** The code, the enhanced code and the text of an answer such as `550 5.1.1 No such user`. */
export function readAnswer(answer: string): Codes & { readonly text: string | null } {
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
