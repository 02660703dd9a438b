import type { OnApplicationShutdown } from '@nestjs/common';
import { PermanentFailure } from '../../message/failures.js';
import { smsParts } from '../../message/sms-parts.js';
import type {
  MessageTransport,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
} from '../../ports/message-transport.js';
import type { TransportContext, TransportFactory } from '../../ports/message-transport.js';
import { HttpClient } from '../http-client/http-client.js';
import { type KannelOptions, type KannelSettings, kannelSettings } from './kannel.options.js';
import { sendsmsFailure } from './sendsms-answer.js';

const MAX_ANSWER = 65_536;
const SUBMISSION_ID = /^[\x21-\x7e]{1,255}$/;
const HEADER_TEXT = /^[\x20-\x7e]+$/;
/** Bits of all kinds of reports: delivered 1, undeliverable 2, queued 4, accepted 8, refused 16. */
const ALL_REPORTS = '31';

/**
 * Sends through a Kannel SMS gateway (its smsbox's sendsms).
 *
 * @throws MessagingConfigError naming the option and the remedy
 * @example
 * MessagingModule.forRoot({
 *   transport: kannel({ url: 'http://kannel:13013', username, password, callbackUrl, callbackSecret }),
 *   callbacks: { parser: new KannelReportParser(), verifier: new KannelCallbackVerifier(callbackSecret) },
 * });
 */
export function kannel(options: KannelOptions): TransportFactory {
  const settings = kannelSettings(options);
  return (context) => new KannelTransport(settings, context);
}

/**
 * Submits one recipient per request, because Kannel's answer for several covers only the first. Kannel returns no
 * reference and ignores keys. The transport therefore makes its own reference, and never repeats a submission that
 * Kannel may have accepted: a report, which names the submission, settles it.
 */
export class KannelTransport implements MessageTransport, OnApplicationShutdown {
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  readonly #client: HttpClient;
  readonly #fixed: Readonly<Record<string, string>>;

  constructor(
    private readonly settings: KannelSettings,
    { http }: TransportContext,
  ) {
    const { name, url, connections, username, password, smsc } = settings;
    this.name = name;
    this.capabilities = {
      maxRecipients: 1,
      idempotencyWindow: 0,
      connections,
      channels: ['sms'],
    };
    this.#client = new HttpClient(http, url, connections);
    this.#fixed = {
      'content-type': 'text/plain; charset=UTF-8',
      'x-kannel-username': username,
      'x-kannel-password': password,
      ...(smsc !== undefined && { 'x-kannel-smsc': smsc }),
    };
  }

  /**
   * Sends the text in a `POST`. All other values, including the password, are in headers, which Kannel does not log.
   */
  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    const { text, recipient } = this.#checked(submission);
    const { status, text: answer } = await this.#client.send(
      {
        method: 'POST',
        path: '',
        headers: {
          ...this.#fixed,
          'x-kannel-from': submission.sender,
          'x-kannel-to': recipient,
          'x-kannel-coding': smsParts(text).encoding === 'GSM-7' ? '0' : '2',
          ...this.#reportHeaders(submission, recipient),
        },
        body: text,
        maxBytes: MAX_ANSWER,
      },
      signal,
    );
    if (status !== 202) throw sendsmsFailure(status, answer);
    return { reference: submission.id };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#client.close();
  }

  #reportHeaders(
    { id, deliveryReport }: Submission,
    recipient: string,
  ): Readonly<Record<string, string>> {
    const { reportLink, reports } = this.settings;
    if (!reportLink || (reports === 'message' && deliveryReport === 'none')) return {};
    return {
      'x-kannel-dlr-mask': ALL_REPORTS,
      'x-kannel-dlr-url': reportLink.of(id, recipient),
    };
  }

  #checked({ id, channel, sender, content, recipients }: Submission): {
    text: string;
    recipient: string;
  } {
    if (channel !== 'sms')
      throw new PermanentFailure(
        'unsupported_channel',
        `The ${this.name} transport does not send ${channel}`,
      );
    if (content.kind !== 'text' || content.text === '')
      throw new PermanentFailure('unsupported_content', 'An SMS carries text only');
    const [recipient] = recipients;
    if (recipient === undefined || recipients.length > 1)
      throw new PermanentFailure('invalid_submission', 'Kannel takes one recipient at a time');
    // Id and sender become header values, so only plain text is accepted.
    if (!SUBMISSION_ID.test(id) || !HEADER_TEXT.test(sender))
      throw new PermanentFailure(
        'invalid_submission',
        'The submission id or the sender cannot be a header value',
      );
    return { text: content.text, recipient };
  }
}
