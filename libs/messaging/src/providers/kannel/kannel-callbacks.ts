import { createHmac } from 'node:crypto';
import { timeOf } from '../../callbacks/callback-fields.js';
import { callbackParser } from '../../callbacks/callback-map.js';
import { type Secrets, isSignedBy, readSecrets } from '../../callbacks/verifiers.js';
import { errorCode, identifier, own, recipientNumber, word } from '../../message/report-fields.js';
import type { ReportedStatus } from '../../message/status.js';
import type { CallbackParser, CallbackVerifier } from '../../ports/callback-parser.js';

/** Kannel's placeholders: status bit, the SMSC's answer, its message id, seconds since 1970. */
const FILLED_IN = 'status=%d&answer=%A&id=%F&time=%T';

/**
 * The `dlr-url` that Kannel calls with a report. It contains the recipient as submitted, because
 * Kannel may rewrite the number in its own `%p`. The signature covers submission and recipient, so
 * that an address from Kannel's logs allows reports on that message only.
 */
export function reportLink(
  callbackUrl: string,
  secret: string,
  submission: string,
  to: string,
): string {
  const signature = createHmac('sha256', secret).update(signed(submission, to)).digest('base64url');
  const ours = `${callbackUrl}?${new URLSearchParams({ submission, to, signature }).toString()}`;
  // `%` starts a placeholder in Kannel.
  return `${ours.replaceAll('%', '%%')}&${FILLED_IN}`;
}

function signed(submission: string, recipient: string): string {
  return `${submission}\n${recipient}`;
}

/**
 * Verifies a report by the signature in the callback address that was given to Kannel.
 * @param secrets the `callback.secret`; during a rotation, the new and the old one
 * @throws MessagingConfigError where there is none, or one is too short
 */
export function kannelSignature(secrets: Secrets): CallbackVerifier {
  const keys = readSecrets('kannelSignature.secrets', secrets);
  return {
    verify: ({ query }) => {
      const submission = identifier(own(query, 'submission'));
      const to = identifier(own(query, 'to'));
      const signature = identifier(own(query, 'signature'));
      if (submission === null || to === null || signature === null) return false;
      const given = Buffer.from(signature, 'base64url');
      return isSignedBy(keys, 'sha256', signed(submission, to), [given]);
    },
  };
}

/**
 * Parser of the query of Kannel's report address. Its status is one bit:
 *
 * | bit | from | status |
 * |---|---|---|
 * | 1 | the phone | `delivered` |
 * | 2 | the phone | `undelivered`, or the status in an SMPP `stat:`: `expired`, `rejected` |
 * | 4, 8 | the SMSC: queued, accepted | `sent` |
 * | 16 | the SMSC: refused | `rejected`; `failed` where Kannel's own retries ran out |
 *
 * Other values are stored raw and change no message. The query names the submission, so that a
 * report also settles a message whose submit received no answer.
 */
export function kannelParser(): CallbackParser {
  return {
    parse: ({ query }) => {
      const submissionId = identifier(own(query, 'submission'));
      const recipient = recipientNumber(own(query, 'to'));
      const bit = word(own(query, 'status'));
      if (submissionId === null || recipient === null || bit === null)
        return { reports: [], errors: ['no submission, recipient or status'] };
      const answer = answerOf(own(query, 'answer'));
      const report = {
        submissionId,
        reference: submissionId,
        messageId: identifier(own(query, 'id')),
        recipient,
        status: statusOf(bit, answer),
        rawStatus: answer.stat === null ? bit : `${bit} ${answer.stat}`,
        errorCode: answer.error,
        providerTime: timeOf(own(query, 'time'), 'epoch-seconds'),
      };
      return { reports: [report], errors: [] };
    },
  };
}

interface SmscAnswer {
  /** Message state of SMPP. */
  readonly stat: string | null;
  readonly error: string | null;
  readonly retriesRanOut: boolean;
}

const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['1', 'delivered'],
  ['2', 'undelivered'],
  ['4', 'sent'],
  ['8', 'sent'],
  ['16', 'rejected'],
]);

/** Kannel has one bit for all final states but delivery; the SMPP state distinguishes them. */
const UNDELIVERED: ReadonlyMap<string, ReportedStatus | null> = new Map([
  ['EXPIRED', 'expired'],
  ['REJECTD', 'rejected'],
  ['SKIPPED', 'rejected'],
  ['UNKNOWN', null],
]);

function statusOf(bit: string, { stat, retriesRanOut }: SmscAnswer): ReportedStatus | null {
  if (bit === '2' && stat !== null && UNDELIVERED.has(stat)) return UNDELIVERED.get(stat) ?? null;
  if (bit === '16' && retriesRanOut) return 'failed';
  return STATUSES.get(bit) ?? null;
}

const STAT = /\bstat:\s*([A-Za-z]{4,10})\b/i;
const ERR = /\berr:\s*([0-9A-Za-z]{1,10})\b/i;

function lastOf(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(new RegExp(pattern, 'gi'))].at(-1)?.[1];
}

/** Reads `… stat:UNDELIV err:011 text:…` or `NACK/11/…`, but not the text, which is content. */
function answerOf(given: unknown): SmscAnswer {
  const text = typeof given === 'string' ? given.slice(0, 1024).replaceAll('\0', '') : '';
  const nack = /^NACK\/([\w .-]{1,64})?/.exec(text);
  const [receipt = '', ...words] = text.split(/\btext:/i);
  // Some SMSCs write the text before the state, which then is behind the message's words.
  const fields = STAT.test(receipt) ? receipt : words.join(' ');
  const stat = lastOf(fields, STAT)?.toUpperCase();
  const code = nack ? nack[1]?.trim() : lastOf(fields, ERR);
  return {
    stat: (!nack && stat) || null,
    error: errorCode(code),
    retriesRanOut: /^NACK\/Retries Exceeded/i.test(text),
  };
}

/**
 * Parser of messages through Kannel: a `get-url` or `post-url` of an `sms-service` that ends in
 * `?id=%I&from=%p&to=%P&text=%b&time=%T`; the body of a `post-url` is ignored. `mo-recode = true`
 * in the `smsbox` group converts every text to UTF-8. Kannel does not sign these calls.
 * @see https://www.kannel.org/download/kannel-userguide-snapshot/userguide.html
 */
export function kannelInboundParser(): CallbackParser {
  const parser = callbackParser({
    messages: {
      messageId: 'id',
      from: 'from',
      to: 'to',
      text: 'text',
      channel: 'sms',
      time: 'time',
      timeFormat: 'epoch-seconds',
    },
  });
  return {
    parse: ({ url, pathSecret, headers, query, rawBody, ip, receivedAt }) => {
      const call = { url, pathSecret, headers, query, rawBody, ip, receivedAt };
      return parser.parse({ ...call, method: 'GET', body: undefined });
    },
  };
}
