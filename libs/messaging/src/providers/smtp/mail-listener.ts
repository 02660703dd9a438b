import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import type { Email } from 'postal-mime';
import type {
  SMTPServer,
  SMTPServerDataStream,
  SMTPServerOptions,
  SMTPServerSession,
} from 'smtp-server';
import { addressOf } from '../../message/address.js';
import type { InboundMessage } from '../../message/events.js';
import type { Clock } from '../../ports/clock.js';
import type { InboundSink, ReportSink } from '../../ports/message-transport.js';
import { MOST_REPORT, readMail } from './mail-report.js';
import type { ListenerSettings } from './smtp.options.js';
import type { Verp } from './verp.js';

/** Largest returned message of a report that is received; only its start is kept. */
const LARGEST_REPORT = 41_943_040;
const MOST_RECIPIENTS = 50;

interface ReceivedMail {
  readonly email: Email;
  readonly raw: Buffer;
  /** The address in `From`. */
  readonly from: string;
  readonly authentic: boolean;
}

interface Sinks {
  readonly reports: ReportSink;
  readonly inbound: InboundSink | undefined;
}

/**
 * Receives mail for return addresses, complaint addresses and inbound domains, and relays none. A
 * mail is acknowledged after the commit of its report or message; until then its sender repeats it.
 */
export class MailListener {
  readonly #logger = new Logger('SmtpListener');
  /** Times of the last mails on the monotonic clock, at most `rateLimit.max`. */
  readonly #starts: number[] = [];
  readonly #open = new Map<string, { readonly from: string; readonly timer: NodeJS.Timeout }>();
  #server: SMTPServer | undefined;
  #started: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly settings: ListenerSettings,
    private readonly verp: Verp | undefined,
    private readonly clock: Clock,
  ) {}

  /** The port; `undefined` while it does not listen. */
  get port(): number | undefined {
    return (this.#server?.server.address() as AddressInfo | null | undefined)?.port;
  }

  /** Resolves once it listens. @throws Error of the socket, such as EADDRINUSE */
  start(sinks: Sinks): Promise<void> {
    const started = this.#listen(sinks);
    this.#started = started.catch(() => undefined);
    return started;
  }

  async #listen(sinks: Sinks): Promise<void> {
    // Loaded here, because only a listener needs it.
    const { SMTPServer: Server } = await import('smtp-server');
    if (this.#stopped) return;
    const server = new Server(this.#options(sinks));
    this.#server = server;
    const { port, host } = this.settings;
    await new Promise<void>((resolve, reject) => {
      server.server.once('listening', resolve);
      // Errors of connections arrive here as well; they end that connection alone.
      server.on('error', reject);
      server.listen(port, host);
    });
  }

  /** Resolves when the mails in hand are answered. */
  async close(): Promise<void> {
    this.#stopped = true;
    await this.#started;
    const server = this.#server;
    if (server?.server.listening)
      await new Promise<void>((resolve) => server.close(() => resolve()));
    for (const { timer } of this.#open.values()) clearTimeout(timer);
  }

  #options(sinks: Sinks): SMTPServerOptions {
    const { key, cert, name, connections } = this.settings;
    const hasTls = key !== undefined && cert !== undefined;
    return {
      ...(hasTls && { key, cert }),
      ...(name !== undefined && { name }),
      banner: 'ready',
      authOptional: true,
      disabledCommands: ['AUTH', ...(hasTls ? [] : ['STARTTLS'])],
      disableReverseLookup: true,
      logger: false,
      size: LARGEST_REPORT,
      maxRecipients: MOST_RECIPIENTS,
      maxClients: connections,
      socketTimeout: this.settings.timeout,
      closeTimeout: 5_000,
      onConnect: (session, done) => done(this.#connect(session)),
      onClose: (session) => this.#closed(session),
      onMailFrom: (_from, _session, done) => done(this.#start()),
      onRcptTo: ({ address }, _session, done) => {
        this.#isOurs(address).then(
          (isOurs) => done(isOurs ? null : refusal(550, '5.7.1 Relaying denied')),
          () => done(refusal(451, '4.3.0 Try again later')),
        );
      },
      onData: (stream, session, done) => {
        this.#receive(stream, session, sinks).then(
          (error) => done(error),
          (error: unknown) => {
            this.#logger.warn(`A mail was not recorded: ${String(error)}`);
            done(refusal(451, '4.3.0 Try again later'));
          },
        );
      },
    };
  }

  #connect(session: SMTPServerSession): Error | null {
    const from = session.remoteAddress ?? '';
    const own = [...this.#open.values()].filter((one) => one.from === from).length;
    if (own >= this.settings.connectionsPerAddress)
      return refusal(421, '4.7.0 Too many connections');
    const timer = setTimeout(() => this.#end(session), this.settings.sessionTimeout);
    timer.unref();
    this.#open.set(session.id, { from, timer });
    return null;
  }

  /** A session that sends slowly for ever. */
  #end(session: SMTPServerSession): void {
    for (const connection of this.#server?.connections ?? [])
      if (connection.session.id === session.id) connection.close();
  }

  #closed({ id }: SMTPServerSession): void {
    clearTimeout(this.#open.get(id)?.timer);
    this.#open.delete(id);
  }

  /** Counts a mail; no window of `per` has more than `max`. */
  #start(): Error | null {
    const { max, per } = this.settings.rateLimit;
    const now = this.clock.monotonic();
    while (this.#starts.length > 0 && now - (this.#starts[0] as number) >= per)
      this.#starts.shift();
    if (this.#starts.length >= max) return refusal(451, '4.7.0 Too much mail, try again later');
    this.#starts.push(now);
    return null;
  }

  async #isOurs(address: string): Promise<boolean> {
    if (this.verp?.submissionOf(address) !== undefined) return true;
    const known = addressOf('email', address)?.value;
    if (known === undefined) return false;
    const { complaints, inboundDomains } = this.settings;
    if (complaints.includes(known.toLowerCase())) return true;
    const domain = known.slice(known.lastIndexOf('@') + 1);
    return typeof inboundDomains === 'function'
      ? inboundDomains(domain)
      : inboundDomains.includes(domain);
  }

  /** @returns the refusal, `null`: the mail is recorded */
  async #receive(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    { reports, inbound }: Sinks,
  ): Promise<Error | null> {
    const { maxSize, complaints, authenticate } = this.settings;
    const recipients = session.envelope.rcptTo.map(({ address }) => address);
    const isReport = (address: string) =>
      this.verp?.submissionOf(address) !== undefined || complaints.includes(address.toLowerCase());
    const people = recipients.filter((address) => !isReport(address));
    const most = people.length > 0 ? maxSize : MOST_REPORT;
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (size < most) chunks.push(chunk);
      size += chunk.length;
    }
    const limit = people.length > 0 ? maxSize : LARGEST_REPORT;
    if (size > limit || stream.sizeExceeded) return refusal(552, '5.3.4 Message too large');
    const raw = Buffer.concat(chunks);
    const mail = await readMail(raw, recipients, this.verp);
    switch (mail.kind) {
      case 'report':
        await reports([mail.report]);
        return null;
      case 'ignored':
        this.#logger.debug(`A mail was ignored: ${mail.reason}`);
        return null;
      case 'message': {
        const from = addressOf('email', mail.email.from?.address)?.value;
        if (from === undefined) return null;
        const remoteAddress = session.remoteAddress ?? '';
        const isAuthentic = (await authenticate?.({ raw, from, remoteAddress })) ?? false;
        const messages = people.flatMap(
          (to) => messageOf({ ...mail, raw, from, authentic: isAuthentic }, to) ?? [],
        );
        if (inbound && messages.length > 0) await inbound(messages);
        return null;
      }
    }
  }
}

function messageOf(
  { email, raw, from, authentic }: ReceivedMail,
  to: string,
): InboundMessage | undefined {
  const own = addressOf('email', to)?.value;
  if (own === undefined) return undefined;
  const sentAt = new Date(email.date ?? Number.NaN);
  const id = createHash('sha256').update(`${from}\n${own}\n`);
  return {
    messageId: id.update(email.messageId ?? raw).digest('hex'),
    channel: 'email',
    from,
    bsuid: null,
    to: own,
    text: email.text ?? null,
    sentAt: Number.isNaN(sentAt.getTime()) ? null : sentAt,
    authentic,
  };
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
