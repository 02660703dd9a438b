import type { MessageIdFormat } from '@dundun/smpp';
import { MessagingConfigError } from '../../message/errors.js';
import {
  duration,
  group,
  object,
  oneOf,
  optional,
  type OptionReader,
  type ReadersOf,
  type SettingsOf,
  textLike,
  wholeNumber,
  wholeNumberFrom,
  withDefault,
  type Duration,
} from '../../ports/option-schema.js';
import { providerName } from '../provider-options.js';
import { parsedUrl } from '../../message/url.js';

/** Effect of a refusal by the SMSC: see the errors of `submit()`. */
export type SmppRefusal = 'permanent' | 'unroutable' | 'retryable' | 'paused';

interface SmppAddressOfServer {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly systemId: string;
  readonly password: string;
}

/** The error omits the value, which contains a password. */
const smscAddress: OptionReader<SmppAddressOfServer, string> = (option, value) => {
  const reject = (cause: string): never => {
    throw new MessagingConfigError(
      `${option}: ${cause}; pass one such as smpp://system_id:password@smsc.example.com:2775`,
    );
  };
  const url = typeof value === 'string' ? parsedUrl(value) : undefined;
  if (!url) return reject('is no address');
  const { protocol, hostname, port, username, password, pathname, search, hash } = url;
  if (protocol !== 'smpp:' && protocol !== 'smpps:')
    return reject('must start with smpp:// or smpps://');
  if (hostname === '' || (pathname !== '' && pathname !== '/') || search !== '' || hash !== '')
    return reject('must have a host and no path or query');
  const [systemId, secret] = [username, password].map(
    (part) => decoded(part) ?? reject('has a system_id or password that is not percent-encoded'),
  ) as [string, string];
  if (!/^[\x21-\x7e]{1,15}$/.test(systemId))
    return reject('must have a system_id of 1 to 15 ASCII characters');
  if (!/^[\x20-\x7e]{0,8}$/.test(secret))
    return reject('must have a password of at most 8 ASCII characters');
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 2775 : Number(port),
    isTls: protocol === 'smpps:',
    systemId,
    password: secret,
  };
};

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

const timeZone: OptionReader<string> = (option, value) => {
  try {
    if (typeof value !== 'string') throw new RangeError();
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    throw new MessagingConfigError(
      `${option}: must be a time zone of the IANA database, such as Africa/Lagos`,
    );
  }
};

/** Most connections of all processes. */
const MOST_BINDS = 1_000;

/** Connections of a process by kind. */
export interface SmppBindOptions {
  /** Sends and receives. @default 1 where none of the three is given */
  readonly transceiver?: number;
  /** Sends only. @default 0 */
  readonly transmitter?: number;
  /** Receives receipts and inbound messages only. @default 0 */
  readonly receiver?: number;
}

const BINDS = {
  transceiver: optional(wholeNumberFrom(0)),
  transmitter: optional(wholeNumberFrom(0)),
  receiver: optional(wholeNumberFrom(0)),
} satisfies ReadersOf<SmppBindOptions>;

const readBinds = group(BINDS);

/** Connections of each kind, in the order in which they are made. */
const binds: OptionReader<
  Readonly<Record<keyof typeof BINDS, number>>,
  SmppBindOptions | undefined
> = (option, value) => {
  const given = readBinds(option, value);
  const isGiven = Object.values(given).some((each) => each !== undefined);
  const { transceiver = isGiven ? 0 : 1, transmitter = 0, receiver = 0 } = given;
  if (transceiver + transmitter === 0)
    throw new MessagingConfigError(
      `${option}: must have a transceiver or a transmitter, or nothing can be sent`,
    );
  return { transceiver, transmitter, receiver };
};

const refusals: OptionReader<
  ReadonlyMap<number, SmppRefusal>,
  Readonly<Record<string, SmppRefusal>> | undefined
> = (option, value = {}) =>
  new Map(
    Object.entries(object<Record<string, unknown>>()(option, value)).map(([status, refusal]) => {
      if (!/^0x[0-9a-f]{1,8}$/i.test(status) || Number(status) === 0)
        throw new MessagingConfigError(
          `${option}: must have command statuses as keys, such as { '0x0000045c': 'retryable' }`,
        );
      const read = oneOf<SmppRefusal>('permanent', 'unroutable', 'retryable', 'paused');
      return [Number(status), read(`${option}.${status}`, refusal)] as const;
    }),
  );

/** Options of {@link smpp}. */
export interface SmppOptions {
  /** `smpp://system_id:password@host:2775`, or `smpps://` for TLS; the two are percent-encoded. */
  readonly url: string;
  /** Connections to the SMSC of each process that sends. @default { transceiver: 1 } */
  readonly binds?: SmppBindOptions;
  /**
   * Connections that the SMSC allows for the `system_id`. All processes of the app's database together
   * make no more; a process for which too few are left waits, and sends nothing. @default no limit
   */
  readonly maxBinds?: number;
  /** Most messages without an answer on each connection. @default 10 */
  readonly window?: number;
  /** `system_type` of the bind, where the SMSC asks for one. @default '' */
  readonly systemType?: string;
  /** `service_type` of messages, where the SMSC asks for one. @default '' */
  readonly serviceType?: string;
  /** Long messages: parts with a header, parts with `sar_*`, or whole in `message_payload`. @default 'udh' */
  readonly long?: 'udh' | 'sar' | 'payload';
  /** The SMSC's ids: the same in answers and receipts, hexadecimal in answers and decimal in receipts (`'hex'`), or the reverse. @default 'text' */
  readonly idFormat?: MessageIdFormat;
  /** Time zone of the dates in receipts. @default 'UTC' */
  readonly timeZone?: string;
  /** `'message'`: receipts only for messages that ask for reports. @default 'always' */
  readonly reports?: 'always' | 'message';
  /** Meaning of the SMSC's own statuses, by hexadecimal code. @default none */
  readonly refusals?: Readonly<Record<string, SmppRefusal>>;
  /** Time for an answer; after it the message is `unknown`. @default '10s' */
  readonly answerTimeout?: Duration;
  /** Time for a connection and its TLS. @default '10s' */
  readonly connectTimeout?: Duration;
  /** Silence after which the SMSC is asked by `enquire_link`. @default '30s' */
  readonly enquireLink?: Duration;
  /** Longest wait before the next connection; the first is a second. @default '60s' */
  readonly reconnect?: Duration;
  /** Certificate authorities for `smpps://`, in PEM. @default those of Node.js */
  readonly ca?: string;
  /** Tells transports apart, also in stored submissions: do not change it. @default 'smpp' */
  readonly name?: string;
}

const SMPP = {
  url: smscAddress,
  binds,
  maxBinds: optional(wholeNumber),
  window: withDefault(wholeNumber, 10),
  systemType: withDefault(textLike(/^[\x20-\x7e]{0,12}$/, 'at most 12 ASCII characters'), ''),
  serviceType: withDefault(textLike(/^[\x20-\x7e]{0,5}$/, 'at most 5 ASCII characters'), ''),
  long: withDefault(oneOf('udh', 'sar', 'payload'), 'udh'),
  idFormat: withDefault(oneOf<MessageIdFormat>('text', 'hex', 'decimal'), 'text'),
  timeZone: withDefault(timeZone, 'UTC'),
  reports: withDefault(oneOf('always', 'message'), 'always'),
  refusals,
  answerTimeout: withDefault(duration(1), '10s'),
  connectTimeout: withDefault(duration(1), '10s'),
  enquireLink: withDefault(duration(1), '30s'),
  reconnect: withDefault(duration(1), '60s'),
  ca: optional(textLike(/-----BEGIN CERTIFICATE-----/, 'certificates in PEM')),
  name: withDefault(providerName, 'smpp'),
} satisfies ReadersOf<SmppOptions>;

export type SmppSettings = SettingsOf<typeof SMPP>;

const readSettings = group(SMPP);

/** @throws MessagingConfigError naming the option and the remedy */
export function smppSettings(options: SmppOptions): SmppSettings {
  const settings = readSettings('smpp', options);
  const { maxBinds = MOST_BINDS } = settings;
  const least = bindCount(settings);
  if (maxBinds < least || maxBinds > MOST_BINDS)
    throw new MessagingConfigError(
      `smpp.maxBinds: must be from ${least}, the binds of one process, to ${MOST_BINDS}`,
    );
  return settings;
}

/** Connections of one process. */
export function bindCount({ binds: { transceiver, transmitter, receiver } }: SmppSettings): number {
  return transceiver + transmitter + receiver;
}
