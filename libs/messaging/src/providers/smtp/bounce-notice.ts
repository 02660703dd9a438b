import type { Email } from 'postal-mime';
import { readAnswer, type Words } from './bounce.js';

/** Characters and lines of a notification that are read; the report precedes the returned message. */
const MOST_TEXT = 16_384;
const MOST_LINES = 200;

/** Begins the returned message within the text of a notification. */
const RETURNED =
  /^(?:[-=*_# ]{2,}.{0,40}\b(?:original|copy of|unsent|returned|message (?:text|headers?) follow|header)|original message|message headers follow|below is a copy|(?:received|return-path|message-id|mime-version|dkim-signature|x-mailer):)/i;

const SUBJECT =
  /undeliver|deliver\w* (?:status|fail|error|problem|has failed|report)|mail (?:delivery|system) |returned (?:e-?)?mail|failure notice|fail(?:ed|ure)\b.{0,40}deliver|could not (?:be )?(?:deliver|send)|cannot be delivered|non[- ]?deliver|message (?:blocked|rejected|not delivered)|mail error|error sending|bounce|unzustellbar|nicht zugestellt|non (?:remis|distribu|recapit)|no se (?:ha podido|pudo) entregar/i;
const DAEMON = /^(?:mailer[-_]?daemon|post_?master|mail-?daemon|double-bounce)\b/i;

/** A reply keeps the subject of the message, which may have the same words. */
const RE = /^(?:re|fwd?|aw|wg|sv|vs|antw|rv|tr)\s*:/i;
/** An answer that no person writes. */
const CITED = /\b5\d\d[ -]#?5\.\d{1,3}\.\d{1,3}\b/;
const RECEIPT = 'message/disposition-notification';

const REPLY =
  /^(?:auto(?:matic(?:ally)?|matische)?[- :]?(?:reply|response|replied|antwort|antwoord)|out of (?:the )?office|abwesen|vacation|away\b|on leave|r[ée]ponse automatique|risposta automatica|respuesta autom|resposta autom|fuori (?:sede|ufficio)|absence)/i;

const DELAYED =
  /warning(?: message)? only|will (?:keep|continue|be) (?:trying|to try|retr|attempt)|still being retried|not yet (?:been )?delivered|\(delay\)|deliver\w* (?:is |has been |temporarily )?delayed|could not send message for past/i;
const DELIVERED =
  /success(?:ful(?:ly)?)? (?:mail )?deliver|deliver\w* success|\bdelivered successfully|\(success\)|\(relayed?\)|^(?:delivered|relayed|read|gelesen|lu|le[ií]do):/i;
const EXPIRED =
  /retry (?:time|timeout) (?:not |exceeded)|timed? ?out\b|giving up|expired|too (?:old|long) in (?:the )?queue|in the queue too long|connection refused|not reachable|unreachable|(?:unable|not able|not possible|couldn't) to (?:connect|establish)|after multiple retries/i;

export type NoticeKind = 'automatic' | 'person' | 'delivered' | 'delayed' | 'expired' | 'bounced';

/** What a mail to a return address is, by its header and its words. */
export interface Notice extends Words {
  readonly kind: NoticeKind;
  /** A mail server has written it: no person writes as a daemon or with the null sender. */
  readonly isOfServer: boolean;
}

interface NoticeContext {
  /** The envelope has the null sender, as notifications and automatic replies do. */
  readonly isNull: boolean;
  /** The mail has a part for programs, which says nothing. @default false */
  readonly isReport?: boolean;
  /** The source of the mail without its header. */
  readonly body: () => string;
}

/**
 * Reads a mail without a report for programs. A mail that is no automatic reply, no delay, no
 * success and no mail of a person is a bounce.
 */
export function readNotice(
  email: Email,
  { isNull, isReport = false, body }: NoticeContext,
): Notice {
  const subject = email.subject?.slice(0, 998) ?? '';
  const local = email.from?.address?.split('@')[0] ?? email.from?.name ?? '';
  const hasFailed = email.headers.some(({ key }) => key === 'x-failed-recipients');
  const isReply = REPLY.test(subject);
  const isDaemon = DAEMON.test(local);
  const text = noticeIn(email, body);
  const isNotice =
    isReport ||
    hasFailed ||
    (!isReply &&
      (isDaemon ||
        isReportType(email) ||
        (isNull && CITED.test(text)) ||
        (SUBJECT.test(subject) && !RE.test(subject))));
  const answer = answerIn(text);
  const kindOf = (): NoticeKind => {
    if (!isNotice && (isReply || isAutomatic(email))) return 'automatic';
    if (!isNotice && !isNull && !CITED.test(text)) return 'person';
    if (email.attachments.some(({ mimeType }) => mimeType === RECEIPT)) return 'delivered';
    const { code, enhanced } = readAnswer(answer);
    const isPermanent = code !== null ? code >= 500 : enhanced?.startsWith('5') === true;
    if (isPermanent) return 'bounced';
    if (DELIVERED.test(subject)) return 'delivered';
    if (DELAYED.test(subject) || DELAYED.test(text)) return 'delayed';
    return code !== null || enhanced !== null || EXPIRED.test(text) ? 'expired' : 'bounced';
  };
  return { kind: kindOf(), answer, text, isOfServer: isReport || hasFailed || isDaemon || isNull };
}

/** A report that lacks its part for programs. */
function isReportType({ headers }: Email): boolean {
  return headers.some(
    ({ key, value }) => key === 'content-type' && /^multipart\/report\b/i.test(value.trim()),
  );
}

/** The text before the returned message; of a mail without readable parts, its source. */
function noticeIn(email: Email, body: () => string): string {
  const lines: string[] = [];
  const text = email.text?.trim() ? email.text : body();
  for (const line of text.slice(0, MOST_TEXT).split('\n', MOST_LINES)) {
    if (RETURNED.test(line)) break;
    lines.push(line);
  }
  return lines.join('\n');
}

const ANSWER =
  /(?<![\w.:#-])[45]\d\d(?=[\s:,\]'"-]{1,4}\S)(?! (?:byte|hour|day|minute|second))|(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?!\.?\d)/;

/** From the first code to the end of its paragraph, or to the answer for another recipient. */
function answerIn(text: string): string {
  const found = ANSWER.exec(text);
  if (!found) return '';
  const [start, code] = [found.index, found[0]];
  // qmail writes the code after the words: `Sorry, no mailbox here by that name. (#5.1.1)`
  if (code.includes('.') && /[(#]$/.test(text.slice(0, start)))
    return text.slice(text.lastIndexOf('\n', start) + 1, start + code.length).trim();
  const [paragraph = ''] = text.slice(start, start + 512).split(/\n\s*\n|\n\s*</);
  const [, own] = /([45]\.\d{1,3}\.\d{1,3})(?!\.?\d)/.exec(paragraph) ?? [];
  const other = [...paragraph.matchAll(/\n.*(?<![\d.])([45]\.\d{1,3}\.\d{1,3})(?!\.?\d)/g)].find(
    ([, enhanced]) => enhanced !== own,
  );
  return paragraph.slice(0, other?.index);
}

/** `Auto-Submitted` of RFC 3834, and the fields that older programs write instead. */
export function isAutomatic({ headers }: Email): boolean {
  return headers.some(
    ({ key, value }) =>
      (key === 'auto-submitted' && !/^no\b/i.test(value.trim())) ||
      (key === 'precedence' && /^(auto_reply|bulk|junk|list)$/i.test(value.trim())) ||
      key === 'x-autoreply' ||
      key === 'x-autorespond' ||
      (key === 'x-auto-response-suppress' && /\ball\b|autoreply/i.test(value)),
  );
}
