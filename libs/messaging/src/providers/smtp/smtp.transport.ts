import type { BeforeApplicationShutdown, OnApplicationShutdown } from '@nestjs/common';
import { doubledWait } from '../../message/doubled-wait.js';
import {
  BouncedFailure,
  DeferredFailure,
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type SubmitFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type {
  MessageTransport,
  ProviderAccount,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
  TransportContext,
  TransportFactory,
} from '../../ports/message-transport.js';
import { invalid, wireAddress } from '../email/mail-parts.js';
import { bounceDetails, readAnswer } from './bounce.js';
import { DkimKeyError, DkimSigner } from './dkim.js';
import { type ComposedEmail, EmailComposer, linesOf } from './email-template.js';
import { MailListener } from './mail-listener.js';
import { type SmtpOptions, type SmtpSettings, smtpSettings } from './smtp.options.js';
import { SmtpConnections, SmtpError } from './smtp-connections.js';
import { Verp } from './verp.js';

/** Time after which a server's memory of a Message-ID counts as lost, in milliseconds. */
const RESEND_WINDOW = 86_400_000;
/** First wait after a transaction was cut before the message was sent, in milliseconds. */
const CUT_WAIT = 15_000;

/**
 * Sends e-mail through a relay, and receives its reports. Needs `nodemailer` and `postal-mime`; a
 * listener needs `smtp-server`.
 * @throws MessagingConfigError naming the option and the remedy; DkimKeyError for an unusable key
 * @example
 * MessagingModule.forRoot({
 *   providers: { mail: smtp({ url: 'smtp://user:password@relay.example.com:587', dkim: { domain, keys } }) },
 * });
 */
export function smtp(options: SmtpOptions): TransportFactory {
  const settings = smtpSettings(options);
  return (context) => new SmtpTransport(settings, context);
}

/**
 * Submits one recipient per message, so that a refusal concerns that recipient alone. SMTP has no
 * idempotency keys: when the answer to a message is lost, it cannot be asked for.
 */
export class SmtpTransport
  implements MessageTransport, BeforeApplicationShutdown, OnApplicationShutdown
{
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  readonly #connections: SmtpConnections;
  readonly #signer: DkimSigner | undefined;
  readonly #verp: Verp | undefined;
  readonly #listener: MailListener | undefined;
  /** Set where there is a listener. */
  readonly listen?: MessageTransport['listen'];
  readonly #composer: EmailComposer;

  /** @internal */
  constructor(
    private readonly settings: SmtpSettings,
    context: TransportContext,
  ) {
    const { name, connections, onUncertain, timeouts, dkim, verpKeys } = settings;
    const { connect, greeting, answer, accept } = timeouts;
    this.name = name;
    this.capabilities = {
      channels: ['email'],
      maxRecipients: 1,
      idempotencyWindow: onUncertain === 'resend' ? RESEND_WINDOW : 0,
      connections,
      timeout: connect + greeting + 5 * answer + accept,
    };
    this.#connections = new SmtpConnections(settings);
    this.#composer = new EmailComposer(settings.unsubscribeUrl);
    this.#signer = dkim && new DkimSigner(dkim);
    const verp = verpKeys && new Verp(verpKeys);
    this.#verp = verp;
    if (!settings.listener) return;
    const returnHost = returnHosts(settings.bounceDomain);
    const listener = new MailListener(settings.listener, verp, returnHost, context.clock);
    this.#listener = listener;
    this.listen = (reports, inbound) => listener.start({ reports, inbound });
  }

  get listenerPort(): number | undefined {
    return this.#listener?.port;
  }

  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    if (signal.aborted) throw new RetryableFailure('aborted', 'The request was given up');
    const { id, recipients } = submission;
    const [recipient] = recipients;
    if (recipient === undefined || recipients.length > 1)
      throw invalid('An e-mail has one recipient per submission', 'invalid_submission');
    const to = wireAddress(recipient);
    const { email, message } = await this.#messageFor(submission, to);
    const { dsn } = this.settings;
    const envelope = {
      from: this.#returnAddress(id, email.from),
      to,
      ...(dsn !== 'off' && {
        dsn: {
          ret: 'HDRS',
          envid: id,
          notify: ['FAILURE', 'DELAY', ...(dsn === 'all' ? ['SUCCESS'] : [])],
          orcpt: `rfc822;${to}`,
        },
      }),
    };
    try {
      const answer = await this.#connections.send(envelope, message, needsUtf8(email, to), signal);
      const { text } = readAnswer(answer);
      return { reference: id, ...(text !== null && { details: { response: text } }) };
    } catch (error) {
      throw this.#failureOf(error, submission);
    }
  }

  /** Opens a session, and signs in. */
  async checkAccount(signal: AbortSignal): Promise<ProviderAccount> {
    try {
      await this.#connections.prove(signal);
      return { balance: null };
    } catch (error) {
      throw this.#failureOf(error, { attempt: 1 });
    }
  }

  /** Before the store closes: mails in hand are still recorded. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#listener?.close();
  }

  onApplicationShutdown(): void {
    this.#connections.close();
  }

  async #messageFor(
    submission: Submission,
    recipient: string,
  ): Promise<{ readonly email: ComposedEmail; readonly message: Buffer }> {
    const email = this.#composer.compose(submission, recipient);
    const signatures = await this.#signaturesOf(email, submission.dueAt);
    const head = linesOf([...signatures, ...email.fields]);
    return { email, message: Buffer.concat([Buffer.from(`${head}\r\n\r\n`), email.body]) };
  }

  async #signaturesOf(email: ComposedEmail, at: Date) {
    if (!this.#signer) return [];
    try {
      return await this.#signer.sign(email, at);
    } catch (error) {
      if (error instanceof DkimKeyError) throw new PermanentFailure(error.code, error.message);
      // The application's own function failed, such as for a database that is away.
      throw new RetryableFailure('dkim_key', 'The option dkim gave no key; see its own error');
    }
  }

  #returnAddress(submissionId: string, from: string): string {
    const domain = from.slice(from.lastIndexOf('@') + 1);
    const bounceDomain = this.settings.bounceDomain.replace('{domain}', domain);
    return this.#verp?.addressOf(submissionId, bounceDomain) ?? from;
  }

  /**
   * | where | answer | meaning |
   * |---|---|---|
   * | connecting, TLS, `EHLO`, `AUTH` | any, or none | paused: nothing was sent |
   * | anywhere | 421 | paused |
   * | `MAIL` | 552 | bounced: the message is too large |
   * | `MAIL` | 4xx, 5xx | paused |
   * | `RCPT`, `DATA` | 4xx | deferred: this recipient waits |
   * | `RCPT`, `DATA` | 530, 535, 538, 500 to 504 but 501 | paused: the session is wrong, not the message |
   * | `RCPT`, `DATA` | 5xx | bounced |
   * | before the end of the message | connection lost | deferred: the server has no whole message |
   * | after the end of the message | connection lost, time-out | uncertain |
   */
  #failureOf(error: unknown, { attempt }: Pick<Submission, 'attempt'>): SubmitFailure {
    if (!(error instanceof SmtpError)) {
      if (error instanceof Error && error.name === 'AbortError')
        return new RetryableFailure('aborted', 'The request was given up');
      return new UncertainFailure('smtp_error', 'The SMTP client failed');
    }
    const { stage, answer, command, reason } = error;
    const { code, enhanced } = readAnswer(answer ?? '');
    const said = `${command}: ${[code, enhanced].filter((part) => part !== null).join(' ') || reason}`;
    const name = enhanced ?? (code === null ? 'connection_lost' : String(code));
    if (reason === 'no_smtputf8')
      return invalid('The server takes no address with non-ASCII letters', 'no_smtputf8');
    if (answer === null && reason === 'EMESSAGE')
      return invalid('The message is larger than the server allows', 'message_too_large');
    if (stage === 'sent' && code === null)
      return new UncertainFailure('answer_lost', `No answer to the message (${reason})`);
    if (reason === 'aborted') return new RetryableFailure('aborted', 'The request was given up');
    if (code === 421) return new PausedFailure('unavailable', `The server closes (${said})`);
    if (stage === 'auth' || command.startsWith('AUTH'))
      return new PausedFailure('unauthorized', `The server refused the credentials (${said})`);
    const { host, port } = this.settings.url;
    if (reason === 'ETLS')
      return new PausedFailure('tls', `No trusted TLS connection to ${host}:${port} (${said})`);
    const isEnvelope = /^(MAIL FROM|RCPT TO|DATA)$/.test(command);
    if (code === null && isCut(error)) return this.#deferred(name, said, attempt, null);
    if (!isEnvelope || code === null)
      return new PausedFailure('unreachable', `No SMTP session with ${host}:${port} (${said})`);
    const isSession = [500, 502, 503, 504, 530, 535, 538].includes(code);
    if (isSession || (command === 'MAIL FROM' && code !== 552))
      return new PausedFailure('refused', `The server takes no message now (${said})`);
    if (code < 500) return this.#deferred(name, said, attempt, answer);
    const isOfContent = command === 'DATA';
    const details = { ...bounceDetails({ answer: answer ?? '', remoteMta: host, isOfContent }) };
    return new BouncedFailure(name, `The server refused the message (${said})`, details);
  }

  #deferred(code: string, said: string, attempt: number, answer: string | null): DeferredFailure {
    const { retry, url } = this.settings;
    const first = answer === null ? Math.min(CUT_WAIT, retry.after) : retry.after;
    return new DeferredFailure(
      code,
      `The recipient is refused for now (${said})`,
      Math.round(doubledWait(first, attempt - 1, retry.most, [0.9, 1.1])),
      retry.giveUpAfter,
      answer === null ? undefined : { ...bounceDetails({ answer, remoteMta: url.host }) },
    );
  }
}

/** The hosts of return addresses, where `{domain}` stands for any. */
function returnHosts(bounceDomain: string): RegExp {
  const [before = '', ...after] = bounceDomain
    .toLowerCase()
    .split('{domain}', 2)
    .map((part) => part.replaceAll('.', '\\.'));
  return new RegExp(`^${[before, ...after].join('[a-z0-9.-]{1,253}')}$`);
}

/** A session that was open broke before the message was sent. */
function isCut({ stage, command }: SmtpError): boolean {
  return (stage === 'session' || stage === 'data') && command === 'CONN';
}

/** The header, or the address, has letters that only SMTPUTF8 carries. */
function needsUtf8({ fields }: ComposedEmail, to: string): boolean {
  return /[^\x20-\x7e]/.test(to) || fields.some(({ lines }) => /[^\x20-\x7e\r\n\t]/.test(lines));
}
