import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { addressOf } from '../../message/address.js';
import type { DeliveryReport } from '../../message/events.js';
import { endOfLines } from './arriving-mail.js';
import {
  type BounceDetails,
  bounceDetails,
  codeOfBounce,
  type Refusal,
  statusOfBounce,
} from './bounce.js';
import { isAutomatic, type Notice, readNotice } from './bounce-notice.js';
import type { Verp } from './verp.js';

/** Octets and lines of a mail that are read; the report precedes the returned message. */
export const MOST_READ = 262_144;
/** A parser spends its time per line: 250,000 empty ones took seconds. */
const MOST_LINES = 4_000;

/** A delivery report with the details of a bounce or delay. */
export type MailReport = DeliveryReport & { readonly details?: BounceDetails };

export type ReadMail =
  | { readonly kind: 'report'; readonly report: MailReport }
  /** A mail that is no report, or no authentic one, changes nothing. */
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'message'; readonly email: Email };

const PARSED = {
  forceRfc822Attachments: true,
  maxNestingDepth: 8,
  maxRfc822NestingDepth: 1,
  maxHeadersSize: 65_536,
} as const;

/** Actions of RFC 3464 and of real servers, the one that decides first where a report has several. */
const ACTIONS = ['failed', 'expired', 'delayed', 'delivered', 'expanded', 'relayed'] as const;
type Action = (typeof ACTIONS)[number];

/** Fields of a group by their names in lower case. */
type Fields = ReadonlyMap<string, string>;

/** Error code of a bounce whose cause could not be read. */
const UNREAD = 'unread_bounce';

/** The envelope of a mail. */
export interface Envelope {
  /** The sender; `''`: the null sender. */
  readonly from: string;
  readonly to: readonly string[];
}

/**
 * Reads a mail to a return address or an inbound domain: delivery status notifications (RFC 3464,
 * RFC 6533), complaints (RFC 5965, JMRP), notifications in words, and other mail. A report counts
 * only with a return address of ours, which the envelope or, in a complaint, the returned message
 * has; whatever else comes to such an address is a bounce, unless it is an automatic reply, a delay,
 * a success or a mail of a person.
 * @param raw the mail, or its first {@link MOST_READ} octets
 */
export async function readMail(
  raw: Buffer,
  { from, to }: Envelope,
  verp: Verp | undefined,
): Promise<ReadMail> {
  const named = submissionIn(to, verp);
  let email: Email;
  try {
    const end = endOfLines(raw, { octets: MOST_READ, lines: MOST_LINES });
    email = await PostalMime.parse(raw.subarray(0, end), PARSED);
  } catch {
    if (named === undefined || from !== '') return { kind: 'ignored', reason: 'unreadable' };
    return problem(reportOf(named, null), 'bounced', 'bounce', { answer: '', remoteMta: null });
  }
  const body = () => {
    const text = raw.toString('utf8', 0, MOST_READ);
    return text.slice(text.search(/\r?\n\r?\n/) + 1);
  };
  const status = partOf(email, 'message/delivery-status', 'message/global-delivery-status');
  if (status !== undefined) {
    if (named === undefined) return { kind: 'ignored', reason: 'no_return_address' };
    return statusReport(named, status, email, body);
  }
  const complained = complaint(named, email, verp);
  if (complained) return complained;
  if (named !== undefined)
    return noticeReport(named, email, readNotice(email, { isNull: from === '', body }));
  if (isAutomatic(email)) return { kind: 'ignored', reason: 'automatic_reply' };
  return { kind: 'message', email };
}

function statusReport(
  submissionId: string,
  status: string,
  email: Email,
  body: () => string,
): ReadMail {
  const groups = groupsOf(status);
  const byAction = new Map<string, Fields>();
  for (const group of groups) {
    const action = actionOf(group);
    if (action !== undefined && !byAction.has(action)) byAction.set(action, group);
  }
  const action = ACTIONS.find((one) => byAction.has(one));
  const fields = action && byAction.get(action);
  const refusal = refusalIn(fields ?? groups.find((one) => one.has('status')), groups[0]);
  let notice: Notice | undefined;
  const words = () => (notice ??= readNotice(email, { isNull: true, isReport: true, body }));
  if (!fields) return noticeReport(submissionId, email, words(), refusal);
  const recipient = addressIn(fields.get('original-recipient'));
  const report = { ...reportOf(submissionId, email.date), recipient };
  const rawStatus = [action, refusal.status ?? []].flat().join(' ');
  switch (action) {
    case 'failed':
    case 'expired':
    case 'delayed': {
      const status = action === 'failed' ? 'bounced' : action;
      return problem(report, status, rawStatus, refusal, words);
    }
    case 'delivered':
    case 'expanded':
      return { kind: 'report', report: { ...report, status: 'delivered', rawStatus } };
    case 'relayed':
      return { kind: 'report', report: { ...report, rawStatus } };
  }
}

/** `failed`, `failed (comment)`; some servers write `deliverable`. */
function actionOf(fields: Fields): Action | undefined {
  const [word] = /^[a-z-]+/.exec(fields.get('action')?.toLowerCase() ?? '') ?? [];
  return word === 'deliverable' ? 'delivered' : ACTIONS.find((one) => one === word);
}

function refusalIn(fields: Fields | undefined, head: Fields | undefined): Refusal {
  const [status] = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(fields?.get('status') ?? '') ?? [];
  return {
    answer: fields?.get('diagnostic-code')?.replace(/^[\w-]{1,64}\s*;\s*/, '') ?? '',
    status,
    remoteMta: nameIn(fields?.get('remote-mta')) ?? nameIn(head?.get('reporting-mta')),
  };
}

/** A report of a mail in words: one without a part for programs, or with an empty one. */
function noticeReport(
  submissionId: string,
  email: Email,
  notice: Notice,
  refusal: Refusal = { answer: '', remoteMta: null },
): ReadMail {
  const report = reportOf(submissionId, email.date);
  const { kind } = notice;
  switch (kind) {
    case 'automatic':
      return { kind: 'ignored', reason: 'automatic_reply' };
    case 'person':
    case 'delivered':
      return { kind: 'ignored', reason: 'no_report' };
    case 'bounced':
    case 'delayed':
    case 'expired':
      return problem(report, kind, kind, refusal, () => notice);
  }
}

/** A bounce, an expiry or a delay. */
function problem(
  report: MailReport,
  status: 'bounced' | 'expired' | 'delayed',
  rawStatus: string,
  refusal: Refusal,
  notice?: () => Notice,
): ReadMail {
  const found = bounceDetails(refusal, notice);
  // A person may write that a message could not be delivered.
  const isGuess = found.category === 'recipient' && notice?.().isOfServer === false;
  const details = isGuess ? { ...found, category: 'other' as const } : found;
  const isUnread =
    status === 'bounced' && details.category === 'other' && details.smtp_code === null;
  return {
    kind: 'report',
    report: {
      ...report,
      status: status === 'bounced' ? statusOfBounce(details) : status,
      rawStatus,
      errorCode: codeOfBounce(details) ?? (isUnread ? UNREAD : null),
      details,
    },
  };
}

/**
 * A complaint of a feedback loop: RFC 5965, or the form of Outlook's JMRP, which returns the message
 * with a field of its own. `undefined`: the mail is none.
 */
function complaint(
  named: string | undefined,
  email: Email,
  verp: Verp | undefined,
): ReadMail | undefined {
  const feedback = groupsOf(partOf(email, 'message/feedback-report') ?? '')[0];
  const returned = groupsOf(partOf(email, 'message/rfc822', 'text/rfc822-headers') ?? '')[0];
  if (!feedback && !returned?.has('x-hmxmroriginalrecipient')) return undefined;
  const type = feedback ? feedback.get('feedback-type')?.toLowerCase() : 'abuse';
  const senders = [feedback?.get('original-mail-from'), returned?.get('return-path')];
  const addresses = senders.flatMap((field) => field?.replaceAll(/^[^<]*<|>.*$/g, '') ?? []);
  const submissionId = named ?? submissionIn(addresses, verp);
  if (submissionId === undefined) return { kind: 'ignored', reason: 'no_return_address' };
  // `not-spam` takes a complaint back, and no status is taken back.
  if (type === undefined || !['abuse', 'fraud', 'virus', 'other', 'opt-out'].includes(type))
    return { kind: 'ignored', reason: 'no_complaint' };
  const report = reportOf(submissionId, email.date);
  return { kind: 'report', report: { ...report, status: 'complained', rawStatus: type } };
}

function reportOf(submissionId: string, date: string | null | undefined): MailReport {
  const at = new Date(date ?? Number.NaN);
  return {
    submissionId,
    reference: submissionId,
    messageId: null,
    recipient: null,
    status: null,
    rawStatus: '',
    errorCode: null,
    providerTime: Number.isNaN(at.getTime()) ? null : at,
  };
}

function submissionIn(addresses: readonly string[], verp: Verp | undefined): string | undefined {
  for (const address of addresses) {
    const submissionId = verp?.submissionOf(address);
    if (submissionId !== undefined) return submissionId;
  }
  return undefined;
}

function partOf({ attachments }: Email, ...types: readonly string[]): string | undefined {
  const part = attachments.find(({ mimeType }) => types.includes(mimeType.toLowerCase()));
  return part && textOf(part);
}

function textOf({ content }: Attachment): string {
  const text =
    typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString();
  return text.slice(0, 65_536);
}

/** Groups of fields, separated by empty lines, with folded lines joined; the first value counts. */
function groupsOf(text: string): Fields[] {
  return text
    .replaceAll(/\r\n|\r/g, '\n')
    .split(/\n\n+/)
    .slice(0, 64)
    .map((group) => {
      const fields = new Map<string, string>();
      for (const line of group
        .replaceAll(/\n[ \t]+/g, ' ')
        .split('\n')
        .slice(0, 128)) {
        const [, name, value = ''] = /^([A-Za-z][\w-]{0,63})[ \t]*:[ \t]*(.*)$/.exec(line) ?? [];
        if (name !== undefined && !fields.has(name.toLowerCase()))
          fields.set(name.toLowerCase(), value.trim());
      }
      return fields;
    })
    .filter((fields) => fields.size > 0);
}

/** The name of `dns; mx.example.com`. */
function nameIn(field: string | undefined): string | null {
  const [, name] = /^[\w-]+\s*;\s*([\w.:[\]-]{1,255})/.exec(field ?? '') ?? [];
  return name ?? null;
}

/** The address of `rfc822; ada@example.com`. */
function addressIn(field: string | undefined): string | null {
  const [, address] = /^rfc822\s*;\s*<?([^<>\s]+)>?$/i.exec(field ?? '') ?? [];
  return addressOf('email', address)?.value ?? null;
}
