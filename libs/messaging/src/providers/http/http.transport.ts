import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { DeliveryReport } from '../../message/events.js';
import { PausedFailure, PermanentFailure, UncertainFailure } from '../../message/errors.js';
import { identifier } from '../../message/report-fields.js';
import type {
  MessageTransport,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
  TransportContext,
  TransportFactory,
} from '../../ports/message-transport.js';
import { HttpClient } from '../http-client/http-client.js';
import { answerFailure } from './answer-failure.js';
import { type HttpSettings, type HttpTransportOptions, httpSettings } from './http.options.js';
import { SmsWire } from './sms.wire.js';
import { WhatsAppWire } from './whatsapp.wire.js';
import { fieldOf, type Wire } from './wire.js';

const MAX_ANSWER = 1_048_576;
const MAX_REPORT_PAGE = 8 * 1_048_576;
const SUBMISSION_ID = /^[\x21-\x7e]{1,255}$/;

/**
 * Sends through a service that speaks the messaging service interface.
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
 * Client of the interface (sections 2.1 to 2.4, 4.1, 4.2 and 7). A resend is byte-identical and has
 * the submission's id as its idempotency key.
 */
export class HttpTransport implements MessageTransport, OnApplicationShutdown {
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  readonly #logger = new Logger(HttpTransport.name);
  readonly #client: HttpClient;
  /** The interface has a form for each of its channels, so they are named here. */
  readonly #wires: ReadonlyMap<string, Wire>;

  constructor(
    private readonly settings: HttpSettings,
    private readonly context: TransportContext,
  ) {
    const { name, maxRecipients, idempotencyWindow, connections, baseUrl } = settings;
    this.name = name;
    this.#wires = new Map<string, Wire>([
      ['sms', new SmsWire(settings)],
      ['whatsapp', new WhatsAppWire(settings)],
    ]);
    this.capabilities = {
      maxRecipients,
      idempotencyWindow,
      connections,
      channels: [...this.#wires]
        .filter(([, { credential }]) => settings[credential] !== undefined)
        .map(([channel]) => channel),
      passesTraceOn: true,
    };
    this.#client = new HttpClient(context.http, baseUrl, connections);
  }

  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    const wire = this.#wires.get(submission.channel);
    if (!wire)
      throw new PermanentFailure(
        'unsupported_channel',
        `The ${this.name} transport does not send ${submission.channel}`,
      );
    const answer = await this.#ask(wire, wire.path, signal, submission);
    const reference = identifier(fieldOf(answer, wire.idField));
    if (reference === null)
      throw new UncertainFailure(
        'invalid_answer',
        `The service accepted without a usable ${wire.idField}`,
      );
    return { reference, ...wire.detailsOf?.(reference, answer) };
  }

  async fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    const now = this.context.clock.now();
    const fetched = await Promise.all(
      [...this.#wires].map(([name, wire]) =>
        wire.fetch(
          submissions.filter(({ channel }) => channel === name),
          (path) => this.#ask(wire, path, signal),
          now,
        ),
      ),
    );
    const reports = fetched.flatMap((one) => one.reports);
    const failure = fetched.find((one) => one.failure !== undefined)?.failure;
    if (failure === undefined) return reports;
    // The fetched reports are returned despite the failure, so that the next poll asks for fewer.
    if (reports.length === 0) throw failure as Error;
    this.#logger.warn(`Some reports could not be fetched: ${(failure as Error).message}`);
    return reports;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#client.close();
  }

  /** Posts the submission, or gets `path`. @throws SubmitFailure of answers other than 2xx */
  async #ask(
    wire: Wire,
    path: string,
    signal: AbortSignal,
    submission?: Submission,
  ): Promise<unknown> {
    const credential = this.settings[wire.credential];
    if (credential === undefined)
      // Messages wait for the key and are not lost.
      throw new PausedFailure(
        'unauthorized',
        'WhatsApp takes an svk_ key, made in the dashboard under Email, API Keys: set apiKey',
      );
    const { status, body, retryAfter } = await this.#client.send(
      {
        method: submission ? 'POST' : 'GET',
        path,
        headers: {
          authorization: `Bearer ${credential}`,
          accept: 'application/json',
          ...(submission && {
            'content-type': 'application/json',
            'idempotency-key': submissionIdOf(submission),
            ...submission.trace,
          }),
        },
        body: submission && wire.bodyOf(submission),
        maxBytes: submission ? MAX_ANSWER : MAX_REPORT_PAGE,
      },
      signal,
    );
    if (status >= 200 && status < 300) return body;
    const code = fieldOf(fieldOf(body, 'error'), 'code');
    throw answerFailure({ status, code, retryAfter }, this.context.clock.now(), wire.credential);
  }
}

/** The id becomes a header value, so only plain words are accepted. */
function submissionIdOf({ id }: Submission): string {
  if (!SUBMISSION_ID.test(id))
    throw new PermanentFailure('invalid_submission', 'The submission id cannot be a header value');
  return id;
}
