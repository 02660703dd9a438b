import { createHash } from 'node:crypto';
import { type AddressInfo, isIPv6 } from 'node:net';
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
import { ArrivingMail, Turns } from './arriving-mail.js';
import { MOST_READ, readMail } from './mail-report.js';
import type { ListenerSettings } from './smtp.options.js';
import type { Verp } from './verp.js';

/** Largest returned message of a report that is received; only its start is kept. */
const LARGEST_REPORT = 41_943_040;
const MOST_RECIPIENTS = 50;
/** Connections that the system accepts while the process is in one turn of its event loop; Node's own number is 511. */
const BACKLOG = 4_096;
/** Most octets of all mails in hand that are in memory; a further mail is answered 452, to come again. */
const MOST_KEPT = 67_108_864;
/** Networks whose last mails are remembered. */
const MOST_NETWORKS = 10_000;

interface ReceivedMail {
  readonly email: Email;
  /** Its first octets. */
  readonly head: Buffer;
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
  /** Times of the last mails of each network on the monotonic clock, the latest network last. */
  readonly #starts = new Map<string, number[]>();
  readonly #turns = new Turns();
  /** Octets of the mails in hand that are in memory. */
  #kept = 0;
  readonly #open = new Map<string, { readonly from: string; readonly timer: NodeJS.Timeout }>();
  #server: SMTPServer | undefined;
  #started: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly settings: ListenerSettings,
    private readonly verp: Verp | undefined,
    /** Matches the hosts of return addresses. */
    private readonly returnHost: RegExp,
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
      server.listen({ port, host, backlog: BACKLOG });
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
      onMailFrom: (_from, session, done) => done(this.#start(session)),
      onRcptTo: ({ address }, _session, done) => {
        this.#isOurs(address).then(
          (isOurs) => done(isOurs ? null : refusal(550, '5.7.1 Relaying denied')),
          () => done(refusal(451, '4.3.0 Try again later')),
        );
      },
      onData: (stream, session, done) => void this.#take(stream, session, sinks).then(done),
    };
  }

  #connect(session: SMTPServerSession): Error | null {
    const from = networkOf(session.remoteAddress ?? '');
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

  /** Counts a mail; no window of `per` has more than `max` of a network. */
  #start({ remoteAddress }: SMTPServerSession): Error | null {
    const { max, per } = this.settings.rateLimit;
    const now = this.clock.monotonic();
    const network = networkOf(remoteAddress);
    const own = (this.#starts.get(network) ?? []).filter((at) => now - at < per);
    this.#starts.delete(network);
    for (const [other, times] of this.#starts) {
      if (this.#starts.size < MOST_NETWORKS && now - (times.at(-1) ?? 0) < per) break;
      this.#starts.delete(other);
    }
    const isFull = own.length >= max;
    if (!isFull) own.push(now);
    this.#starts.set(network, own);
    return isFull ? refusal(451, '4.7.0 Too much mail, try again later') : null;
  }

  /** The submission of a return address of ours: at a return host, or at the name of this server. */
  #submissionOf(address: string): string | undefined {
    const host = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
    const isOurs = this.returnHost.test(host) || host === this.settings.name?.toLowerCase();
    return isOurs ? this.verp?.submissionOf(address) : undefined;
  }

  async #isOurs(address: string): Promise<boolean> {
    if (this.#submissionOf(address) !== undefined) return true;
    const known = addressOf('email', address)?.value;
    if (known === undefined) return false;
    const { complaints, inboundDomains } = this.settings;
    if (complaints.includes(known.toLowerCase())) return true;
    const domain = known.slice(known.lastIndexOf('@') + 1);
    return typeof inboundDomains === 'function'
      ? inboundDomains(domain)
      : inboundDomains.includes(domain);
  }

  /** @returns the answer to a mail, `null`: accepted, once all of it has arrived */
  async #take(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    sinks: Sinks,
  ): Promise<Error | null> {
    const hand = { octets: 0 };
    const mail = new ArrivingMail(stream, this.#turns);
    try {
      return await this.#receive(mail, session, sinks, hand);
    } catch (error) {
      this.#logger.warn(`A mail was not recorded: ${String(error)}`);
      return refusal(451, '4.3.0 Try again later');
    } finally {
      await mail.end().catch(() => undefined);
      this.#kept -= hand.octets;
    }
  }

  /**
   * @param hand takes the octets of the mail that are in memory
   * @returns the refusal, `null`: the mail is recorded
   */
  async #receive(
    arriving: ArrivingMail,
    { envelope, remoteAddress }: SMTPServerSession,
    { reports, inbound }: Sinks,
    hand: { octets: number },
  ): Promise<Error | null> {
    const { maxSize, complaints, authenticate } = this.settings;
    const recipients = envelope.rcptTo.map(({ address }) => address);
    const isReport = (address: string) =>
      this.#submissionOf(address) !== undefined || complaints.includes(address.toLowerCase());
    const people = recipients.filter((address) => !isReport(address));
    const head = await arriving.head(MOST_READ, (octets) => this.#keep(octets, hand));
    if (!head) return refusal(452, '4.3.1 Too many mails in hand, try again later');
    const { mailFrom } = envelope;
    const sender = mailFrom === false ? '' : mailFrom.address;
    const mail = await readMail(head, { from: sender, to: recipients }, this.verp);
    const from =
      mail.kind === 'message' ? addressOf('email', mail.email.from?.address)?.value : undefined;
    const limit = people.length > 0 ? maxSize : LARGEST_REPORT;
    const isAuthentic =
      from !== undefined &&
      ((await authenticate?.({ head, raw: arriving.octets(limit), from, remoteAddress })) ?? false);
    if ((await arriving.end()) > limit) return refusal(552, '5.3.4 Message too large');
    switch (mail.kind) {
      case 'report':
        await reports([mail.report]);
        return null;
      case 'ignored':
        this.#logger.debug(`A mail was ignored: ${mail.reason}`);
        return null;
      case 'message': {
        if (from === undefined) return null;
        const received = { email: mail.email, head, from, authentic: isAuthentic };
        const messages = people.flatMap((to) => messageOf(received, to) ?? []);
        if (inbound && messages.length > 0) await inbound(messages);
        return null;
      }
    }
  }

  #keep(octets: number, hand: { octets: number }): boolean {
    if (this.#kept + octets > MOST_KEPT) return false;
    hand.octets += octets;
    this.#kept += octets;
    return true;
  }
}

function messageOf(
  { email, head, from, authentic }: ReceivedMail,
  to: string,
): InboundMessage | undefined {
  const own = addressOf('email', to)?.value;
  if (own === undefined) return undefined;
  const sentAt = new Date(email.date ?? Number.NaN);
  const id = createHash('sha256').update(`${from}\n${own}\n`);
  return {
    messageId: id.update(email.messageId ?? head).digest('hex'),
    channel: 'email',
    from,
    bsuid: null,
    to: own,
    text: email.text ?? null,
    sentAt: Number.isNaN(sentAt.getTime()) ? null : sentAt,
    authentic,
  };
}

/** An IPv4 address, or the /64 of an IPv6 address, which one customer usually has whole. */
function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (!isIPv6(mapped)) return mapped;
  const [head = '', tail] = mapped.split('::');
  const groups = head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  const whole = [...groups, ...Array<string>(missing).fill('0'), ...(tail ?? '').split(':')];
  return whole.slice(0, 4).join(':');
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
