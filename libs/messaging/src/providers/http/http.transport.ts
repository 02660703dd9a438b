import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { DeliveryReport } from '../../message/delivery-report.js';
import { PermanentFailure, UncertainFailure } from '../../message/failures.js';
import type {
  MessageTransport,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
} from '../../ports/message-transport.js';
import type { TransportContext, TransportFactory } from '../../ports/message-transport.js';
import type { TraceContext } from '../../ports/tracing.js';
import { type ClientAnswer, HttpClient } from '../http-client/http-client.js';
import { answerFailure } from './failure.js';
import { type HttpSettings, type HttpTransportOptions, httpSettings } from './http.options.js';
import { ReportPoll } from './report-poll.js';
import { keyMissing, WhatsAppWire } from './whatsapp-wire.js';

const MAX_ANSWER = 1_048_576;
const MAX_REPORT_PAGE = 8 * 1_048_576;
const SUBMISSION_ID = /^[\x21-\x7e]{1,255}$/;
const REFERENCE = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

interface Fetched {
  readonly reports: readonly DeliveryReport[];
  /** Error because of which reports may be missing. */
  readonly failure: unknown;
}

const NOTHING: Fetched = { reports: [], failure: undefined };

/**
 * Sends through a service that speaks the messaging service interface.
 *
 * @throws MessagingConfigError at boot for each credential mistake that would cause a 401
 * @example
 * MessagingModule.forRoot({
 *   transport: http({ baseUrl: 'https://sms.example.com', apiToken: process.env.SMS_TOKEN! }),
 * });
 */
export function http(options: HttpTransportOptions): TransportFactory {
  const settings = httpSettings(options);
  return (context) => new HttpTransport(settings, context);
}

/**
 * Client of the interface (sections 2.1 to 2.4, 4.1, 4.2 and 7). A resend is byte-identical and has the submission's
 * id as its idempotency key.
 */
export class HttpTransport implements MessageTransport, OnApplicationShutdown {
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  readonly #logger = new Logger(HttpTransport.name);
  readonly #client: HttpClient;
  readonly #authorization: string;

  constructor(
    private readonly settings: HttpSettings,
    private readonly context: TransportContext,
  ) {
    this.name = settings.name;
    this.capabilities = {
      maxRecipients: settings.maxRecipients,
      idempotencyWindow: settings.idempotencyWindow,
      connections: settings.connections,
      channels: settings.apiKey === undefined ? ['sms'] : ['sms', 'whatsapp'],
      passesTraceOn: true,
    };
    this.#client = new HttpClient(context.http, settings.baseUrl, settings.connections);
    this.#authorization = `Bearer ${settings.apiToken}`;
  }

  /** `POST {baseUrl}/ng/v1/sendsms`, or `/whatsapp/ng/v1/sendwhatsapp`. */
  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    if (submission.channel === 'whatsapp')
      return this.#whatsApp(signal, submission.trace).submit({
        ...submission,
        id: submissionIdOf(submission),
      });
    const answer = await this.#client.send(
      {
        method: 'POST',
        path: '/ng/v1/sendsms',
        headers: {
          authorization: this.#authorization,
          accept: 'application/json',
          'content-type': 'application/json',
          'idempotency-key': submissionIdOf(submission),
          ...submission.trace,
        },
        body: this.#bodyOf(submission),
        maxBytes: MAX_ANSWER,
      },
      signal,
    );
    const reference = property(this.#success(answer), 'reference_id');
    if (typeof reference !== 'string' || !REFERENCE.test(reference))
      throw new UncertainFailure(
        'invalid_answer',
        `The service answered ${answer.status} without a usable reference_id`,
      );
    return { reference };
  }

  /**
   * `GET {baseUrl}/ng/v1/deliveryreports`, by reference, or by key where no reference is known; `GET
   * {baseUrl}/whatsapp/ng/v1/messages/{id}`.
   */
  async fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    const now = this.context.clock.now();
    const whatsApp = submissions.filter(({ channel }) => channel === 'whatsapp');
    const others = submissions.filter(({ channel }) => channel !== 'whatsapp');
    const answers = await Promise.allSettled([
      whatsApp.length > 0 ? this.#whatsApp(signal).fetch(whatsApp, now) : NOTHING,
      others.length > 0 ? this.#fetchSms(others, signal) : NOTHING,
    ]);
    const learned = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const reports = learned.flatMap((one) => one.reports);
    const [failure] = answers
      .map((one) => (one.status === 'fulfilled' ? one.value.failure : one.reason))
      .filter((one) => one !== undefined);
    if (failure === undefined) return reports;
    // The fetched reports are returned despite the failure, so that the next poll asks for fewer.
    if (reports.length === 0) throw failure as Error;
    this.#logger.warn(`Some reports could not be fetched: ${(failure as Error).message}`);
    return reports;
  }

  async #fetchSms(submissions: readonly SentSubmission[], signal: AbortSignal): Promise<Fetched> {
    const get = async (path: string) => {
      const answer = await this.#client.send(
        {
          method: 'GET',
          path,
          headers: { authorization: this.#authorization, accept: 'application/json' },
          maxBytes: MAX_REPORT_PAGE,
        },
        signal,
      );
      const body = this.#success(answer);
      if (!Array.isArray(property(body, 'data')))
        throw new UncertainFailure('invalid_answer', 'The service answered without a report list');
      return body;
    };
    const poll = new ReportPoll(get, this.context.clock.now());
    const { unreadable, ...fetched } = await poll.run(submissions);
    if (unreadable > 0)
      this.#logger.warn(
        `${unreadable} fetched delivery reports could not be read and were left out`,
      );
    return fetched;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#client.close();
  }

  #bodyOf(submission: Submission): Record<string, unknown> {
    if (submission.channel !== 'sms')
      throw new PermanentFailure(
        'unsupported_channel',
        `The ${this.name} transport does not send ${submission.channel}`,
      );
    if (submission.content.kind !== 'text')
      throw new PermanentFailure('unsupported_content', 'An SMS carries text only');
    return {
      from: submission.sender,
      to: submission.recipients,
      [this.settings.textField.sms]: submission.content.text,
      delivery_report: this.settings.deliveryReport ?? submission.deliveryReport,
    };
  }

  #whatsApp(signal: AbortSignal, trace?: TraceContext): WhatsAppWire {
    const { apiKey, textField } = this.settings;
    return new WhatsAppWire(async ({ method, path, idempotencyKey, body }) => {
      if (apiKey === undefined) throw keyMissing();
      const answer = await this.#client.send(
        {
          method,
          path,
          headers: {
            authorization: `Bearer ${apiKey}`,
            accept: 'application/json',
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
            ...trace,
          },
          ...(body !== undefined && { body }),
          maxBytes: MAX_ANSWER,
        },
        signal,
      );
      return this.#success(answer, 'apiKey');
    }, textField.whatsapp);
  }

  /** Returns the body of a 2xx; throws the matching failure for other answers. */
  #success(
    { status, body, retryAfter }: ClientAnswer,
    credential: 'apiToken' | 'apiKey' = 'apiToken',
  ): unknown {
    if (status >= 200 && status < 300) return body;
    const code = property(property(body, 'error'), 'code');
    throw answerFailure(
      { status, code: typeof code === 'string' ? code : undefined, retryAfter },
      this.context.clock.now(),
      credential,
    );
  }
}

/** The id becomes a header value, so only plain words are accepted. */
function submissionIdOf({ id }: Submission): string {
  if (!SUBMISSION_ID.test(id))
    throw new PermanentFailure('invalid_submission', 'The submission id cannot be a header value');
  return id;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
