import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { DeliveryReport } from '../../message/events.js';
import {
  InboundMediaError,
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  type SubmitFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import type { VasProduct } from '../../message/vas.js';
import { identifier, own } from '../../message/report-fields.js';
import type {
  InboundMedia,
  MediaRequest,
  MediaUpload,
  MessageTransport,
  ProviderAccount,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
  TransportContext,
  TransportFactory,
} from '../../ports/message-transport.js';
import { type ClientAnswer, HttpClient } from '../http-client/http-client.js';
import { refusalFailure, retryAfterMilliseconds } from '../http-client/http-failures.js';
import { type HttpSettings, type HttpTransportOptions, httpSettings } from './http.options.js';
import { openFile } from '../http-client/provider-files.js';
import { EmailWire } from './email-wire.js';
import { FILE_PATH, filePathOf } from './inbound-wire.js';
import { VoiceWire } from './voice-wire.js';
import { VasWire } from './vas-wire.js';
import { SmsWire, WHATSAPP, WhatsAppWire, type Wire } from './wires.js';

const MAX_ANSWER = 1_048_576;
const MAX_REPORT_PAGE = 8 * 1_048_576;
const SUBMISSION_ID = /^[\x21-\x7e]{1,255}$/;

/**
 * Sends through a Dundun gateway, or another service with its interface: docs/carriers.md has a request,
 * its answers and a report.
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
 * Client of the interface of a Dundun gateway. A resend is byte-identical and has the submission's id
 * as its idempotency key.
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
      ['email', new EmailWire(context.channels)],
      ['voice', new VoiceWire(context.channels, settings.deliveryReport)],
      ['vas', new VasWire(context.channels, settings)],
    ]);
    this.capabilities = {
      senders: ['alphanumeric'],
      maxRecipients,
      idempotencyWindow,
      connections,
      channels: [...this.#wires]
        .filter(([, { credential }]) => settings[credential] !== undefined)
        .map(([channel]) => channel),
      reportsByKey: ['sms'],
      passesTraceOn: true,
    };
    this.#client = new HttpClient(context.http, baseUrl, connections);
  }

  async submit(
    submission: Submission,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<SubmissionAccepted> {
    const wire = this.#wires.get(submission.channel);
    if (!wire)
      throw new PermanentFailure(
        'unsupported_channel',
        `The ${this.name} transport does not send ${submission.channel}`,
      );
    const answer = await this.#ask(wire, wire.path, signal, submission, written);
    const reference = identifier(own(answer, wire.idField));
    if (reference === null)
      throw new UncertainFailure(
        'invalid_answer',
        `The service accepted without a usable ${wire.idField}`,
      );
    return { reference, ...wire.detailsOf?.(reference, answer, submission) };
  }

  async fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    const fetched = await Promise.all(
      [...this.#wires].map(([name, wire]) =>
        wire.fetch(
          submissions.filter(({ channel }) => channel === name),
          (path) => this.#ask(wire, path, signal),
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

  async products(signal: AbortSignal): Promise<readonly VasProduct[]> {
    const products: VasProduct[] = [];
    for (const wire of this.#wires.values())
      if (wire.products)
        products.push(...(await wire.products((path) => this.#ask(wire, path, signal))));
    return products;
  }

  async uploadMedia(
    { content, contentType, filename }: MediaUpload,
    _sender: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { apiKey = '' } = this.settings;
    const name = filename === undefined ? '' : `?filename=${encodeURIComponent(filename)}`;
    const headers = { ...headersOf(apiKey), 'content-type': contentType };
    const path = `${WHATSAPP}/media${name}`;
    const answer = await this.#client.send(
      { method: 'POST', path, headers, body: content, maxBytes: MAX_ANSWER },
      signal,
    );
    const id = identifier(own(answer.body, 'media_id'));
    if (answer.status < 300 && id !== null) return id;
    // An upload may be repeated.
    throw answerFailure(answer, this.context.clock.now(), 'apiKey', this.settings);
  }

  /** Of a service that passes contents on, as the gateway does. */
  async fetchMedia(media: MediaRequest, signal: AbortSignal): Promise<InboundMedia> {
    const { name, baseUrl } = this.settings;
    const credential = this.settings[this.#wires.get(media.channel)?.credential ?? 'apiToken'];
    if (credential === undefined)
      throw new InboundMediaError(
        'unsupported',
        `The provider ${name} has no credential of the channel ${media.channel}: set apiToken or apiKey`,
      );
    const address = baseUrl + filePathOf(media);
    const own = { authorization: `Bearer ${credential}` };
    const access = { name, baseUrl, path: FILE_PATH, credential: own };
    return openFile(this.#client, address, access, signal);
  }

  /** By a read with each credential. */
  async checkAccount(signal: AbortSignal): Promise<ProviderAccount> {
    const { idempotencyWindow } = this.settings;
    for (const [credential, path] of PROOFS) {
      const secret = this.settings[credential];
      if (secret === undefined) continue;
      const request = { method: 'GET', path, headers: headersOf(secret) } as const;
      const answer = await this.#client.send({ ...request, maxBytes: MAX_REPORT_PAGE }, signal);
      const code = own(own(answer.body, 'error'), 'code');
      const isKnown = answer.status < 300 || code === 'not_found' || code === 'insufficient_scope';
      if (!isKnown)
        throw answerFailure(answer, this.context.clock.now(), credential, { idempotencyWindow });
    }
    return { balance: null };
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
    written?: () => void,
  ): Promise<unknown> {
    const credential = this.settings[wire.credential];
    if (credential === undefined)
      // Messages wait for the key and are not lost.
      throw new PausedFailure(
        'unauthorized',
        wire.credential === 'apiKey'
          ? 'WhatsApp and email take an svk_ key, made in the settings of the account at the service (the gateway: its portal, or dundun key create): set apiKey'
          : 'SMS and calls take the API token of the account at the service (the gateway: its portal, or dundun token rotate): set apiToken',
      );
    const answer = await this.#client.send(
      {
        method: submission ? 'POST' : 'GET',
        path,
        headers: headersOf(credential, submission),
        body: submission && wire.bodyOf(submission),
        maxBytes: submission ? MAX_ANSWER : MAX_REPORT_PAGE,
      },
      signal,
      written,
    );
    if (answer.status >= 200 && answer.status < 300) return answer.body;
    const idempotencyWindow = wire.keyed === false ? 0 : this.settings.idempotencyWindow;
    throw answerFailure(answer, this.context.clock.now(), wire.credential, { idempotencyWindow });
  }
}

/** Reads that each credential has: a page of reports, and a message that does not exist. */
const PROOFS = [
  ['apiToken', '/ng/v1/deliveryreports?limit=1'],
  ['apiKey', '/whatsapp/ng/v1/messages/00000000-0000-7000-8000-000000000000'],
] as const;

function headersOf(credential: string, submission?: Submission): Record<string, string> {
  const authorization = `Bearer ${credential}`;
  const accept = 'application/json';
  if (!submission) return { authorization, accept };
  const headers: Record<string, string> = {
    authorization,
    accept,
    'content-type': 'application/json',
    'idempotency-key': submissionIdOf(submission),
  };
  return submission.trace ? Object.assign(headers, submission.trace) : headers;
}

/** The id becomes a header value, so only plain words are accepted. */
function submissionIdOf({ id }: Submission): string {
  if (!SUBMISSION_ID.test(id))
    throw new PermanentFailure('invalid_submission', 'The submission id cannot be a header value');
  return id;
}

/**
 * Failures of answers. Only one with the interface's error body, `{ error: { code } }`, is proof of
 * a refusal; the answers not named here mean what {@link refusalFailure} says.
 *
 * | answer | with the error body | without |
 * |---|---|---|
 * | 401, 403 | paused until the credential is right | uncertain, and paused |
 * | 404, 405 | permanent | uncertain, and paused: `baseUrl` is wrong, not the message |
 * | 407 | permanent | uncertain, and paused: a proxy asks for a credential |
 * | 409 `idempotency_key_in_use` | uncertain: the first try is still running | |
 * | 422 `idempotency_key_reused` | uncertain: an earlier try under the key was accepted | |
 */
export function answerFailure(
  { status, body, retryAfter: asked }: Pick<ClientAnswer, 'status' | 'body' | 'retryAfter'>,
  now: number,
  credential: Wire['credential'],
  { idempotencyWindow }: Pick<HttpSettings, 'idempotencyWindow'>,
): SubmitFailure {
  const code = machineCode(own(own(body, 'error'), 'code'));
  const retryAfter = retryAfterMilliseconds(asked, now);
  switch (code) {
    case undefined:
      if ([401, 403, 404, 405, 407].includes(status))
        return new PausedUncertainFailure(
          'not_the_interface',
          `The answer (${status}) has not the interface's form: another service or a proxy gave it; check baseUrl and ${credential}`,
          retryAfter,
        );
      break;
    case 'idempotency_key_in_use':
      if (status === 409)
        return new UncertainFailure(
          code,
          'An earlier try of this submission still runs',
          retryAfter,
        );
      break;
    // The service has no way to the recipient, or does not know the sender: another one may.
    case 'no_route':
    case 'sender_not_registered':
    case 'caller_not_registered':
    case 'domain_not_verified':
      if (status === 422)
        return new UnroutableFailure(code, `The service refused the request (422 ${code})`);
      break;
    case 'idempotency_key_reused':
      if (status === 422)
        return new UncertainFailure(
          code,
          'An earlier try of this submission was taken in another form',
          retryAfter,
        );
      break;
    default:
      if (status === 401)
        return new PausedFailure(
          code,
          `The service refused the credential (401 ${code}); its causes: the word Bearer is missing; white space or a ` +
            `newline was copied with the token; the token was rotated. Check ${credential}`,
        );
      if (status === 403)
        return new PausedFailure(
          code,
          `The service refused the account (403 ${code}); ${causeOf403(code)}`,
        );
  }
  return refusalFailure('The service', { status, code, retryAfter, keyed: idempotencyWindow > 0 });
}

/** Only the interface's form of codes, as any other value could be personal data. */
function machineCode(code: unknown): string | undefined {
  return typeof code === 'string' && /^[a-z][a-z0-9_.-]{0,63}$/i.test(code) ? code : undefined;
}

function causeOf403(code: string): string {
  if (code === 'account_disabled') return 'the account is suspended: ask the service';
  if (code === 'insufficient_scope') return 'the key lacks the scope: make one that has it';
  return 'check the account and the scopes of its credential';
}
