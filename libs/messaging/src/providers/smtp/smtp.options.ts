import { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { MessagingConfigError } from '../../message/errors.js';
import {
  callback,
  duration,
  group,
  list,
  oneOf,
  optional,
  type OptionReader,
  type ReadersOf,
  type RateLimit,
  rateLimit,
  secretKey,
  text,
  textLike,
  wholeNumber,
  wholeNumberFrom,
  withDefault,
  type Duration,
} from '../../ports/option-schema.js';
import { MAIL_OPTIONS, type MailOptions } from '../email/mail-parts.js';
import { providerName } from '../provider-options.js';
import type { DkimIdentities, DkimIdentity } from './dkim.js';
import { parsedUrl } from '../../message/url.js';

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps://`). */
  readonly secure: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | undefined;
}

/** The error omits the value, which contains a password. */
const serverAddress: OptionReader<SmtpServer, string> = (option, value) => {
  const reject = (cause: string): never => {
    throw new MessagingConfigError(
      `${option}: ${cause}; pass one such as smtp://user:password@smtp.example.com:587`,
    );
  };
  const url = typeof value === 'string' ? parsedUrl(value) : undefined;
  if (!url) return reject('is no address');
  const { protocol, hostname: host, port, username, password, pathname, search, hash } = url;
  if (protocol !== 'smtp:' && protocol !== 'smtps:')
    return reject('must start with smtp:// or smtps://');
  if (host === '' || (pathname !== '' && pathname !== '/') || search !== '' || hash !== '')
    return reject('must have a host and no path or query');
  if ((username === '') !== (password === '')) return reject('must have both user and password');
  let auth: SmtpServer['auth'];
  try {
    if (username !== '')
      auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    return reject('has a user or password that is not percent-encoded');
  }
  const secure = protocol === 'smtps:';
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    auth,
  };
};

const dkim: OptionReader<DkimIdentity | DkimIdentities> = (option, value) => {
  if (typeof value === 'function') return value as DkimIdentities;
  const { domain, keys } = (value ?? {}) as Partial<DkimIdentity>;
  const isKey = (key: Partial<DkimIdentity['keys'][number]> | undefined) =>
    typeof key?.selector === 'string' &&
    (typeof key.privateKey === 'string' || key.privateKey instanceof KeyObject);
  if (typeof domain === 'string' && Array.isArray(keys) && keys.length > 0 && keys.every(isKey))
    return value as DkimIdentity;
  throw new MessagingConfigError(
    `${option}: must be { domain, keys: [{ selector, privateKey }] }, or a function of the domain`,
  );
};

const lowerCase: OptionReader<string> = (option, value) => text(option, value).toLowerCase();

/** An inbound mail before its sender is proven. */
export interface UnprovenMail {
  /** Its first octets: at least 262,144 with the header, or the whole mail. */
  readonly head: Buffer;
  /**
   * The mail while it arrives, once, in pieces of at most 65,536 octets and 1,000 lines; what is not
   * read is skipped. A mail larger than `maxSize`, which is refused, ends early.
   */
  readonly raw: AsyncIterable<Buffer>;
  /** The address in `From`, as the inbound message will have it. */
  readonly from: string;
  /** IP address that delivered the mail. */
  readonly remoteAddress: string;
}

type IsInboundDomain = (domain: string) => boolean | Promise<boolean>;

const inboundDomains: OptionReader<readonly string[] | IsInboundDomain> = (option, value) =>
  typeof value === 'function' ? (value as IsInboundDomain) : list(text)(option, value);

/** Options of the listener for bounces, complaints and inbound mail. */
export interface ListenerOptions {
  /** Port for mail from other servers, 25 from outside. 0: any free one. */
  readonly port: number;
  /** Address to listen on. @default '0.0.0.0' */
  readonly host?: string;
  /** Name of this server in its greeting. @default the name of this machine */
  readonly name?: string;
  /** PEM of the certificate and its key, for STARTTLS. @default no TLS */
  readonly key?: string;
  readonly cert?: string;
  /** Addresses to which mailbox providers send complaints (feedback loops). @default none */
  readonly complaints?: readonly string[];
  /** Domains whose mail becomes inbound messages, or a function that knows them. @default none */
  readonly inboundDomains?: readonly string[] | IsInboundDomain;
  /**
   * Whether a mail proves its sender, such as by an aligned DKIM signature. Without proof, its words
   * change no consent. A throw refuses the mail for now. @default none does
   */
  readonly authenticate?: (mail: UnprovenMail) => boolean | Promise<boolean>;
  /** Most octets of an inbound mail. @default 10485760 */
  readonly maxSize?: number;
  /** Most connections at a time. @default 1000 */
  readonly connections?: number;
  /** Most connections of one address (of an IPv6 /64). @default 20 */
  readonly connectionsPerAddress?: number;
  /** Most mails of one address in any window; others of it are told to come later. @default '100/s' */
  readonly rateLimit?: RateLimit | string;
  /** Longest silence of a connection. @default '1m' */
  readonly timeout?: Duration;
  /** Longest connection. @default '10m' */
  readonly sessionTimeout?: Duration;
}

const LISTENER = {
  port: wholeNumberFrom(0),
  host: withDefault(text, '0.0.0.0'),
  name: optional(text),
  key: optional(text),
  cert: optional(text),
  complaints: withDefault(list(lowerCase), []),
  inboundDomains: withDefault(inboundDomains, []),
  authenticate: optional(callback<(mail: UnprovenMail) => boolean | Promise<boolean>>()),
  maxSize: withDefault(wholeNumber, 10_485_760),
  connections: withDefault(wholeNumber, 1_000),
  connectionsPerAddress: withDefault(wholeNumber, 20),
  rateLimit: withDefault(rateLimit, '100/s'),
  timeout: withDefault(duration(1), '1m'),
  sessionTimeout: withDefault(duration(1), '10m'),
} satisfies ReadersOf<ListenerOptions>;

const readListener = group(LISTENER);

export type ListenerSettings = ReturnType<typeof readListener>;

/** Options of {@link smtp}. */
export interface SmtpOptions extends MailOptions {
  /** Relay: `smtp://user:password@host:587`, or `smtps://…` for TLS from the start. */
  readonly url: string;
  /**
   * `required`: nothing is sent without TLS and a valid certificate. `opportunistic`: plain text
   * where the server offers no TLS, without credentials. `off`: for a relay on the same machine.
   * @default 'required'
   */
  readonly tls?: 'required' | 'opportunistic' | 'off';
  /** CA certificates in PEM, instead of those of Node. */
  readonly ca?: string;
  /** Most connections, and messages in flight. @default 10 */
  readonly connections?: number;
  /** Messages after which a connection is closed. @default 100 */
  readonly messagesPerConnection?: number;
  /** Signs every message: an identity, or a function of the domain in `From`. @default unsigned */
  readonly dkim?: DkimIdentity | DkimIdentities;
  /**
   * Keys of return addresses, 32 bytes or more in base64. The first signs, all verify. Without keys
   * bounces go to the address in `From`, and are not read. @default none
   */
  readonly verpKeys?: readonly string[];
  /** Domain of return addresses; `{domain}` is that of `From`. @default 'bounce.{domain}' */
  readonly bounceDomain?: string;
  /** Receives bounces, complaints and inbound mail. Needs `smtp-server` and `postal-mime`. @default off */
  readonly listener?: ListenerOptions;
  /** Reports to ask for, where the server offers DSN. @default 'failures' */
  readonly dsn?: 'failures' | 'all' | 'off';
  /**
   * When the connection is lost after the message was sent and before the answer: `unknown` ends
   * the message as `unknown`; `resend` sends it again with the same Message-ID, which may deliver
   * it twice. @default 'unknown'
   */
  readonly onUncertain?: 'unknown' | 'resend';
  /** Time-outs; the defaults are those of RFC 5321. */
  readonly timeouts?: {
    /** @default '1m' */
    readonly connect?: Duration;
    /** Until the server's greeting. @default '5m' */
    readonly greeting?: Duration;
    /** Limit for each answer, and for each part of the message. @default '5m' */
    readonly answer?: Duration;
    /** Limit for the answer to the whole message. @default '10m' */
    readonly accept?: Duration;
    /** After which an unused connection is closed. @default '30s' */
    readonly idle?: Duration;
  };
  /** Retries of a recipient that is refused for now, such as by greylisting. */
  readonly retry?: {
    /** First wait; it doubles. @default '5m' */
    readonly after?: Duration;
    /** Longest wait. @default '4h' */
    readonly most?: Duration;
    /** From the due time of the batch; then `expired`. @default '72h' */
    readonly giveUpAfter?: Duration;
  };
  /** Name for `EHLO`. @default the name of this machine */
  readonly helo?: string;
  /** Tells transports apart, also in stored submissions: do not change it. @default 'smtp' */
  readonly name?: string;
}

const SMTP = {
  url: serverAddress,
  tls: withDefault(oneOf('required', 'opportunistic', 'off'), 'required'),
  ca: optional(text),
  connections: withDefault(wholeNumber, 10),
  messagesPerConnection: withDefault(wholeNumber, 100),
  dkim: optional(dkim),
  verpKeys: optional(list(secretKey)),
  bounceDomain: withDefault(
    textLike(/^[a-z0-9.{}-]{1,253}$/, "a domain name, such as 'bounce.{domain}'"),
    'bounce.{domain}',
  ),
  ...MAIL_OPTIONS,
  listener: optional(readListener),
  dsn: withDefault(oneOf('failures', 'all', 'off'), 'failures'),
  onUncertain: withDefault(oneOf('unknown', 'resend'), 'unknown'),
  timeouts: group({
    connect: withDefault(duration(1), '1m'),
    greeting: withDefault(duration(1), '5m'),
    answer: withDefault(duration(1), '5m'),
    accept: withDefault(duration(1), '10m'),
    idle: withDefault(duration(1), '30s'),
  }),
  retry: group({
    after: withDefault(duration(1), '5m'),
    most: withDefault(duration(1), '4h'),
    giveUpAfter: withDefault(duration(1), '72h'),
  }),
  helo: withDefault(
    textLike(/^[A-Za-z0-9.:[\]-]{1,253}$/, 'a host name or an address in brackets'),
    /^[a-z0-9.-]+\.[a-z0-9-]+$/i.test(hostname()) ? hostname() : '[127.0.0.1]',
  ),
  name: withDefault(providerName, 'smtp'),
} satisfies ReadersOf<SmtpOptions>;

const readSmtp = group(SMTP);

export type SmtpSettings = ReturnType<typeof readSmtp>;

/** @throws MessagingConfigError naming the option and the remedy */
export function smtpSettings(options: SmtpOptions): SmtpSettings {
  const settings = readSmtp('smtp', options);
  const { url, tls, listener, verpKeys } = settings;
  if (listener && !verpKeys)
    throw new MessagingConfigError(
      'smtp.verpKeys: are missing; the listener believes no report without them',
    );
  const isLoopback =
    url.host === 'localhost' || (isIP(url.host) > 0 && /^(127\.|::1$)/.test(url.host));
  if (url.auth && !url.secure && tls !== 'required' && !isLoopback)
    throw new MessagingConfigError(
      "smtp.tls: must be 'required', because url has a password, which would cross the network in plain text",
    );
  return settings;
}
