import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { addressOf } from '../../message/address.js';
import type { DeliveryReport } from '../../message/events.js';
import { type BounceDetails, categoryOf, readAnswer } from './bounce.js';
import type { Verp } from './verp.js';

/** Octets and lines of a message that are read; the report precedes the returned message. */
export const MOST_REPORT = 262_144;
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

/** Actions of RFC 3464, the one that decides first where a report has several. */
const ACTIONS = ['failed', 'delayed', 'delivered', 'expanded', 'relayed'] as const;

/**
 * Reads a mail to a return address or an inbound domain: delivery status notifications (RFC 3464),
 * complaints (RFC 5965), and other mail. A report counts only with a return address of ours, which
 * the envelope or, in a complaint, the returned message has. Automatic replies are no bounces.
 * @param recipients of the envelope
 */
export async function readMail(
  raw: Buffer,
  recipients: readonly string[],
  verp: Verp | undefined,
): Promise<ReadMail> {
  let email: Email;
  try {
    email = await PostalMime.parse(bounded(raw), PARSED);
  } catch {
    return { kind: 'ignored', reason: 'unreadable' };
  }
  const named = submissionIn(recipients, verp);
  const status = partOf(email, 'message/delivery-status');
  if (status !== undefined) {
    if (named === undefined) return { kind: 'ignored', reason: 'no_return_address' };
    return statusReport(named, status, email);
  }
  const feedback = partOf(email, 'message/feedback-report');
  if (feedback !== undefined) {
    const found = named ?? submissionIn(returnedAddresses(feedback, email), verp);
    if (found === undefined) return { kind: 'ignored', reason: 'no_return_address' };
    return complaint(found, feedback, email);
  }
  if (isAutomatic(email)) return { kind: 'ignored', reason: 'automatic_reply' };
  // A return address takes reports only.
  if (named !== undefined) return { kind: 'ignored', reason: 'no_report' };
  return { kind: 'message', email };
}

function bounded(raw: Buffer): Buffer {
  let end = 0;
  for (let lines = 0; lines < MOST_LINES; lines++) {
    end = raw.indexOf(10, end) + 1;
    if (end === 0 || end > MOST_REPORT) return raw.subarray(0, MOST_REPORT);
  }
  return raw.subarray(0, end);
}

function statusReport(submissionId: string, status: string, email: Email): ReadMail {
  const [head, ...recipients] = groupsOf(status);
  const byAction = new Map(recipients.map((one) => [one.get('action')?.toLowerCase(), one]));
  const action = ACTIONS.find((one) => byAction.has(one));
  const fields = action && byAction.get(action);
  if (!fields) return { kind: 'ignored', reason: 'no_action' };
  const remote = nameIn(fields.get('remote-mta')) ?? nameIn(head?.get('reporting-mta'));
  const diagnostic = fields.get('diagnostic-code')?.replace(/^[\w-]+\s*;\s*/, '') ?? '';
  const answer = readAnswer(diagnostic);
  const [own = null] = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(fields.get('status') ?? '') ?? [];
  // `5.0.0` and `4.0.0` say less than the server's own code.
  const enhanced = own?.endsWith('.0.0') ? (answer.enhanced ?? own) : (own ?? answer.enhanced);
  const details: BounceDetails = {
    category: categoryOf(answer.code, enhanced, diagnostic),
    smtp_code: answer.code,
    enhanced_code: enhanced,
    diagnostic: answer.text,
    remote_mta: remote,
  };
  const isProblem = action === 'failed' || action === 'delayed';
  return {
    kind: 'report',
    report: {
      ...reportOf(submissionId, email),
      recipient: addressIn(fields.get('original-recipient')),
      status: statusOf(action, enhanced),
      rawStatus: [action, own].filter((part) => part !== null).join(' '),
      errorCode: isProblem ? enhanced : null,
      ...(isProblem && { details }),
    },
  };
}

/** A failure after retries ran out says nothing of the recipient: it is `expired`. */
function statusOf(action: (typeof ACTIONS)[number], enhanced: string | null): string | null {
  switch (action) {
    case 'failed':
      return enhanced?.startsWith('4.') || enhanced === '5.4.7' ? 'expired' : 'bounced';
    case 'delayed':
      return 'delayed';
    case 'delivered':
    case 'expanded':
      return 'delivered';
    case 'relayed':
      return null;
  }
}

function complaint(submissionId: string, feedback: string, email: Email): ReadMail {
  const type = groupsOf(feedback)[0]?.get('feedback-type')?.toLowerCase() ?? '';
  // `not-spam` takes a complaint back, and no status is taken back.
  if (!['abuse', 'fraud', 'virus', 'other', 'opt-out'].includes(type))
    return { kind: 'ignored', reason: 'no_complaint' };
  const report = reportOf(submissionId, email);
  return {
    kind: 'report',
    report: { ...report, status: 'complained', rawStatus: type, errorCode: null },
  };
}

function reportOf(submissionId: string, email: Email) {
  const at = new Date(email.date ?? Number.NaN);
  return {
    submissionId,
    reference: submissionId,
    messageId: null,
    recipient: null,
    providerTime: Number.isNaN(at.getTime()) ? null : at,
  };
}

/** `Auto-Submitted` of RFC 3834, and the fields that older programs write instead. */
function isAutomatic({ headers }: Email): boolean {
  return headers.some(
    ({ key, value }) =>
      (key === 'auto-submitted' && !/^no\b/i.test(value.trim())) ||
      (key === 'precedence' && /^(auto_reply|bulk|junk|list)$/i.test(value.trim())) ||
      key === 'x-autoreply' ||
      key === 'x-autorespond' ||
      (key === 'x-auto-response-suppress' && /\ball\b|autoreply/i.test(value)),
  );
}

function submissionIn(addresses: readonly string[], verp: Verp | undefined): string | undefined {
  for (const address of addresses) {
    const submissionId = verp?.submissionOf(address);
    if (submissionId !== undefined) return submissionId;
  }
  return undefined;
}

/** The return addresses in a complaint, of the message that it is about. */
function returnedAddresses(feedback: string, email: Email): string[] {
  const returned = partOf(email, 'message/rfc822') ?? partOf(email, 'text/rfc822-headers') ?? '';
  const fields = [
    groupsOf(feedback)[0]?.get('original-mail-from'),
    groupsOf(returned)[0]?.get('return-path'),
  ];
  return fields.flatMap((field) =>
    field === undefined ? [] : [field.replaceAll(/^.*<|>.*$/g, '')],
  );
}

function partOf({ attachments }: Email, type: string): string | undefined {
  const part = attachments.find(({ mimeType }) => mimeType.toLowerCase() === type);
  return part && textOf(part);
}

function textOf({ content }: Attachment): string {
  const text =
    typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString();
  return text.slice(0, 65_536);
}

/** Groups of fields, separated by empty lines, with folded lines joined; the first value counts. */
function groupsOf(text: string): ReadonlyMap<string, string>[] {
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
        const [, name, value] = /^([A-Za-z-]{1,64}):[ \t]*(.*)$/.exec(line) ?? [];
        if (name !== undefined && !fields.has(name.toLowerCase()))
          fields.set(name.toLowerCase(), (value as string).trim());
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
