import { inboundMapParser } from '../../callbacks/map.parsers.js';
import type { DeliveryReport } from '../../message/delivery-report.js';
import { MessagingConfigError } from '../../message/errors.js';
import { identifier, own, plausible, recipientNumber, word } from '../../message/report-fields.js';
import type { ReportedStatus } from '../../message/status.js';
import { type Clock, systemClock } from '../../ports/clock.js';
import type {
  CallbackRequest,
  CallbackVerifier,
  DeliveryReportParser,
  ParsedReports,
} from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';
import { checkCallbackSecret } from './kannel.options.js';
import { isSigned } from './report-link.js';

/** Verifies a report by the signature in the callback address that was given to Kannel. */
export class KannelCallbackVerifier implements CallbackVerifier {
  readonly #secrets: readonly string[];

  /**
   * @param secrets `callbackSecret`; during a rotation, the new and the old one
   * @throws MessagingConfigError where there is none, or one is too short
   */
  constructor(...secrets: readonly string[]) {
    if (secrets.length === 0)
      throw new MessagingConfigError(
        'callbackSecret: is missing; pass the one the transport signs with',
      );
    this.#secrets = secrets.map(checkCallbackSecret);
  }

  verify({ query }: CallbackRequest): boolean {
    return isSigned(query, this.#secrets);
  }
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
 * Other values are stored raw and change no message. The query names the submission, so that a report also settles a
 * message whose submit received no answer.
 */
export class KannelReportParser implements DeliveryReportParser {
  constructor(private readonly clock: Pick<Clock, 'now'> = systemClock) {}

  parse({ query }: CallbackRequest): ParsedReports {
    const submissionId = identifier(own(query, 'submission'));
    const recipient = recipientNumber(own(query, 'to'));
    const bit = word(own(query, 'status'));
    if (submissionId === null || recipient === null || bit === null)
      return { reports: [], errors: ['no submission, recipient or status'] };
    const answer = own(query, 'answer');
    const words = wordsOf(typeof answer === 'string' ? answer : '');
    const report: DeliveryReport = {
      submissionId,
      reference: submissionId,
      messageId: identifier(own(query, 'id')),
      recipient,
      status: statusOf(bit, words),
      rawStatus: words.stat === null ? bit : `${bit} ${words.stat}`,
      errorCode: words.error,
      providerTime: plausible(seconds(own(query, 'time')), this.clock.now()),
    };
    return { reports: [report], errors: [] };
  }
}

interface Words {
  /** Message state of SMPP. */
  readonly stat: string | null;
  readonly error: string | null;
  readonly retriesRanOut: boolean;
}

function statusOf(bit: string, { stat, retriesRanOut }: Words): ReportedStatus | null {
  switch (bit) {
    case '1':
      return 'delivered';
    case '2':
      return undeliveredOf(stat);
    case '4':
    case '8':
      return 'sent';
    case '16':
      return retriesRanOut ? 'failed' : 'rejected';
    default:
      return null;
  }
}

/** Kannel has one bit for all final states but delivery; the SMPP state distinguishes them. */
function undeliveredOf(stat: string | null): ReportedStatus | null {
  switch (stat) {
    case 'EXPIRED':
      return 'expired';
    case 'REJECTD':
    case 'SKIPPED':
      return 'rejected';
    case 'UNKNOWN':
      return null;
    default:
      return 'undelivered';
  }
}

/**
 * Reads codes from `id:1 … stat:UNDELIV err:011 text:…` or `NACK/11/Invalid destination`. It skips the text, which is
 * the message's content.
 */
function wordsOf(answer: string): Words {
  const text = answer.slice(0, 1024).replaceAll('\0', '');
  const nack = /^NACK\/([\w .-]{1,64})?/.exec(text);
  const [receipt] = text.split(/\btext:/i);
  const stat = /\bstat:\s*([A-Za-z]{4,10})\b/.exec(receipt ?? '')?.[1]?.toUpperCase() ?? null;
  const err = /\berr:\s*([0-9A-Za-z]{1,10})\b/.exec(receipt ?? '')?.[1] ?? null;
  const code = nack ? (nack[1]?.trim() ?? null) : err;
  return {
    stat: nack ? null : stat,
    error: code !== null && /^0*$/.test(code) ? null : code,
    retriesRanOut: /^NACK\/Retries Exceeded/i.test(text),
  };
}

function seconds(value: unknown): Date | null {
  return typeof value === 'string' && /^\d{1,10}$/.test(value)
    ? new Date(Number(value) * 1_000)
    : null;
}

/**
 * Parser of messages through Kannel: a `get-url` or `post-url` of an `sms-service` that ends in
 * `?id=%I&from=%p&to=%P&text=%b&time=%T`. With a `post-url`, the parser also reads only the address and ignores the
 * body. `mo-recode = true` in the `smsbox` group converts every text to UTF-8.
 *
 * @see https://www.kannel.org/download/kannel-userguide-snapshot/userguide.html
 */
export function kannelInboundParser(): InboundParser {
  const parser = inboundMapParser({
    messageId: 'id',
    from: 'from',
    to: 'to',
    text: 'text',
    time: 'time',
    timeFormat: 'epoch-seconds',
  });
  return { parse: (request) => parser.parse({ ...request, method: 'GET' }) };
}
