import type { MessageCategory, PolicyOptions, PriceList } from '@dundun/messaging';
import {
  countryOfNumber,
  isMessageCategory,
  isPhoneNumber,
  parseMailbox,
  rateOf,
  parsedUrl,
} from '@dundun/messaging/values';
import { milliseconds } from './durations.js';
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** @throws Error whose message follows the name of the setting: `must be …; write …`. */
export type Parse<T> = (written: string) => T;

/** `max` in `per` milliseconds. */
export type Rate = ReturnType<typeof rateOf>;

/** Parses by `read`; `message` is the error where it throws or returns `undefined`. */
export function form<T>(message: string, read: (written: string) => T | undefined): Parse<T> {
  return (written) => {
    const value = attempt(() => read(written));
    if (value === undefined) throw new Error(message);
    return value;
  };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function within(value: number, min: number, max = Infinity): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

/** A text that has all these forms; the message of the first wrong one is the error. */
export function text(...forms: readonly (readonly [RegExp, string])[]): Parse<string> {
  return (written) => {
    const wrong = forms.find(([pattern]) => !pattern.test(written));
    if (wrong) throw new Error(wrong[1]);
    return written;
  };
}

function orOff<T>(parse: Parse<T>): Parse<T | undefined> {
  return (written) => (written === 'off' ? undefined : parse(written));
}

/** A sender of e-mail, as it is written. */
export const mailbox: Parse<string> = form(
  'must be an e-mail address, with or without a name; write Dundun <billing@example.com>',
  (written) => (parseMailbox(written) ? written : undefined),
);

export function oneOf<T extends string>(...allowed: readonly T[]): Parse<T> {
  return form(`must be one of ${allowed.join(', ')}`, (written) =>
    allowed.find((candidate) => candidate === written),
  );
}

export function flag(written: string): boolean {
  return oneOf('true', 'false')(written) === 'true';
}

export function wholeNumber(min: number, max: number): Parse<number> {
  return form(`must be a whole number from ${min} to ${max}`, (written) =>
    /^\d{1,15}$/.test(written) ? within(Number(written), min, max) : undefined,
  );
}

/** A duration of the library's grammar, such as `30s`, `500ms` or `2m`, in milliseconds. */
export function duration(min: number, max: number): Parse<number> {
  return form(
    `must be a duration from ${min / 1_000}s to ${max / 1_000}s; write it as 30s, 500ms or 2m`,
    (written) => within(milliseconds(written), min, max),
  );
}

/** A retention in milliseconds; `undefined`: unlimited. */
export const retention = orOff(
  form('must be a duration of at least 1m; write it as 30d or 12h, or off', (written) =>
    within(milliseconds(written), 60_000),
  ),
);

export const rate = form<Rate>(
  'must be messages per time; write it as 50/s, 600/m or 10000/h',
  (written) => rateOf('', written),
);

export const requestRate = orOff(
  form<Rate>('must be requests per time; write it as 50/s, 600/m or 10000/h, or off', (written) =>
    rateOf('', written),
  ),
);

/** Ranges of ports, ends included. */
export type PortRanges = readonly (readonly [number, number])[];

export const MAX_PORT = 65_535;

/** `80,443,1024-65535` */
export const ports = form<PortRanges>(
  `must be ports and ranges of ports up to ${MAX_PORT}; write it as 443 or 80,443,1024-65535`,
  (written) => {
    const ranges = written.split(',').map((range): readonly [number, number] => {
      const [, from = '', to = from] = /^ *(\d{1,5})(?:-(\d{1,5}))? *$/.exec(range) ?? [];
      return [Number(from), Number(to)];
    });
    const isValid = ranges.every(([from, to]) => from >= 1 && from <= to && to <= MAX_PORT);
    return isValid ? ranges : undefined;
  },
);

const BYTES = { B: 1, KiB: 1 << 10, MiB: 1 << 20 } as const;

/** `4MiB`, `512KiB` or `1000B`, in bytes. */
export function size(min: number, max: number): Parse<number> {
  return form(
    `must be a size from ${min / BYTES.KiB}KiB to ${max / BYTES.MiB}MiB; write it as 512KiB or 4MiB`,
    (written) => {
      const [, count, unit = 'B'] = /^(\d{1,9})(B|KiB|MiB)$/.exec(written) ?? [];
      return within(Number(count) * BYTES[unit as keyof typeof BYTES], min, max);
    },
  );
}

/** `USD utility=0.01 marketing=0.05`, in any order; omitted categories have no price. */
export const prices = form<PriceList>(
  'must be a currency and prices by category; write it as USD utility=0.01 marketing=0.05 authentication=0.02 service=0',
  (written) => {
    const [currency = '', ...entries] = written.split(/\s+/);
    const whatsapp = new Map<MessageCategory, string>();
    for (const entry of entries) {
      const [, category, amount] = /^([a-z]+)=(\d{1,9}(?:\.\d{1,6})?)$/.exec(entry) ?? [];
      if (!isMessageCategory(category) || amount === undefined || whatsapp.has(category))
        return undefined;
      whatsapp.set(category, amount);
    }
    return /^[A-Z]{3}$/.test(currency)
      ? { currency, whatsapp: Object.fromEntries(whatsapp) }
      : undefined;
  },
);

/** Prices by the prefix of the number; `*`: of every number without a longer one. */
export interface PrefixPrices {
  readonly currency: string;
  readonly prefixes: readonly (readonly [prefix: string, price: string])[];
}

/** `USD *=0.0500 234=0.0045`, in any order. */
export const prefixPrices = form<PrefixPrices>(
  'must be a currency and prices by the start of numbers; write it as USD *=0.0500 234=0.0045',
  (written) => {
    const [currency = '', ...entries] = written.split(/\s+/);
    const prefixes = new Map<string, string>();
    for (const entry of entries) {
      const [, prefix = '', amount] =
        /^(\*|[1-9]\d{0,14})=(\d{1,9}(?:\.\d{1,6})?)$/.exec(entry) ?? [];
      if (amount === undefined || prefixes.has(prefix)) return undefined;
      prefixes.set(prefix, amount);
    }
    const isValid = /^[A-Z]{3}$/.test(currency) && prefixes.size > 0;
    return isValid ? { currency, prefixes: [...prefixes] } : undefined;
  },
);

export interface CallPrice {
  readonly prices: { readonly currency: string; readonly voice: string };
  readonly billing: string;
}

/** `USD 0.0300 60/60`: the price of a minute, and the seconds of the first and further blocks. */
export const callPrice = form<CallPrice>(
  'must be a currency, the price of a minute, and the seconds of the first and of each further block; write it as USD 0.0300 60/60',
  (written) => {
    const [, currency = '', voice = '', billing] =
      /^([A-Z]{3}) (\d{1,9}(?:\.\d{1,6})?) ([1-9]\d{0,3}\/[1-9]\d{0,3})$/.exec(written) ?? [];
    return billing === undefined ? undefined : { prices: { currency, voice }, billing };
  },
);

export const quietHours = form<NonNullable<PolicyOptions['quietHours']>>(
  'must be two different times of day; write it as 21:00-08:00',
  (written) => {
    const time = '((?:[01]\\d|2[0-3]):[0-5]\\d)';
    const [, from = '', to = ''] = new RegExp(`^${time}-${time}$`).exec(written) ?? [];
    return from === to ? undefined : { from, to };
  },
);

const CATEGORIES = ['sms', 'utility', 'marketing', 'authentication', 'service'];

/** `marketing=2/7d sms=5/24h`: a {@link rate} by category, over at least a minute. */
export const frequencyCap = form<NonNullable<PolicyOptions['frequencyCap']>>(
  `must be messages per time by category (${CATEGORIES.join(', ')}); write it as marketing=2/7d sms=5/24h`,
  (written) => {
    const caps = new Map<string, Rate>();
    for (const entry of written.split(/\s+/)) {
      const [, name, limit = ''] = /^([a-z]+)=(.*)$/.exec(entry) ?? [];
      const category = CATEGORIES.find((one) => one === name);
      const cap = rateOf('', limit);
      if (category === undefined || caps.has(category) || cap.per < 60_000) return undefined;
      caps.set(category, cap);
    }
    return Object.fromEntries(caps);
  },
);

/** `2348012345678,233241234567` */
export function phoneNumbers(most: number): Parse<readonly string[]> {
  return form(
    `must be at most ${most} phone numbers with country code, separated by commas; write them as 2348012345678,233241234567`,
    (written) => {
      const all = written.split(',').map((one) => one.trim().replace(/^\+/, ''));
      const isRight = all.every((one) => isPhoneNumber(one) && countryOfNumber(one) !== '');
      return isRight && all.length <= most && new Set(all).size === all.length ? all : undefined;
    },
  );
}

/** `NG,GH` */
export const countries = form<readonly string[]>(
  'must be ISO 3166 codes of countries, separated by commas; write it as NG,GH',
  (written) => {
    const all = written.split(',').map((one) => one.trim());
    return all.every((one) => /^[A-Z]{2}$/.test(one)) ? all : undefined;
  },
);

export const host = text([
  /^[0-9A-Za-z.:_-]+$/,
  'must be a host name or address to listen on, such as 127.0.0.1 or 0.0.0.0',
]);

export const VISIBLE = [
  /^[\x21-\x7e]+$/,
  'must be printable ASCII without spaces or line breaks; one was copied with it perhaps',
] as const;

/** Checks of a credential that was copied. */
export const UNDAMAGED = [
  [/^(?!bearer\s)/i, 'must be the token alone; leave the word Bearer out'],
  [/^\S+$/, 'holds a space or a line break, copied with it perhaps; write the token alone'],
] as const;

export const visible = text(VISIBLE);

/** A credential of another service, checked for common copy-and-paste errors. */
export const credential = text(...UNDAMAGED);

export const secretText = text([
  /^\S{16,}$/,
  'must be at least 16 characters without spaces; openssl rand -hex 32 makes one',
]);

/** A secret of Standard Webhooks. */
export const signingSecret = form(
  'must be whsec_ and 24 to 64 bytes in base64, as the service shows it',
  (written) => {
    const [, bytes = ''] = /^whsec_([0-9A-Za-z+/]+={0,2})$/.exec(written) ?? [];
    const { length } = Buffer.from(bytes, 'base64');
    return length >= 24 && length <= 64 ? written : undefined;
  },
);

export const MAKE_KEY = 'openssl rand -base64 32 makes one';

export const encryptionKey = form<Buffer>(`must be 32 bytes in base64; ${MAKE_KEY}`, (written) =>
  /^[0-9A-Za-z+/]{43}=$/.test(written) ? Buffer.from(written, 'base64') : undefined,
);

export function httpUrl(written: string): string {
  const url = attempt(() => new URL(written));
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new Error('must be an address such as https://sms.example.com');
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    throw new Error('must be an address without user, query or fragment');
  return written;
}

/** Address of an SMTP relay. */
export function relayUrl(written: string): string {
  const url = parsedUrl(written);
  if ((url?.protocol !== 'smtp:' && url?.protocol !== 'smtps:') || url.hostname === '')
    throw new Error('is no relay; write smtp://user:password@relay.example.com:587 or smtps://…');
  if ((url.username === '') !== (url.password === ''))
    throw new Error('has a user or a password alone; write both or none');
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    throw new Error('must be an address without path, query or fragment');
  return written;
}

export function redisUrl(written: string): string {
  const url = attempt(() => new URL(written));
  if ((url?.protocol !== 'redis:' && url?.protocol !== 'rediss:') || url.hostname === '')
    throw new Error('is no Redis address; write redis://user:password@host:6379/0 or rediss://…');
  if (!/^(?:\/\d{0,5})?$/.test(url.pathname))
    throw new Error('names no database; after the host comes its number, such as /0, or nothing');
  return written;
}

/** Name servers as `setServers()` of `node:dns` takes them. */
export const dnsServers = form<readonly string[]>(
  'must be addresses of name servers, separated by commas; write it as 9.9.9.9,192.0.2.1:5353 or [2620:fe::fe]:53',
  (written) => {
    const servers = written.split(',').map((server) => server.trim());
    const isValid = servers.every((server) => {
      const [, v6, v4 = '', port = '53'] =
        /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(server) ?? [];
      const isPort = Number(port) >= 1 && Number(port) <= MAX_PORT;
      return isPort && (v6 === undefined ? isIP(v4) === 4 : isIP(v6) === 6);
    });
    return isValid ? servers : undefined;
  },
);

/** Addresses and networks, as Fastify's `trustProxy` takes them. */
export const networks = form<string[]>(
  'must be addresses or networks, separated by commas; write it as 127.0.0.1,10.0.0.0/8',
  (written) => {
    const all = written.split(',').map((network) => network.trim());
    const isValid = all.every((one) => isIP(one) !== 0 || ipaddr.isValidCIDR(one));
    return isValid ? all : undefined;
  },
);

export const hostName = form('must be a host name; write it as bounces.example.com', (written) => {
  const name = written.toLowerCase();
  return /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(
    name,
  )
    ? name
    : undefined;
});

export const spf = text(
  [
    /^v=spf1 [\x21-\x7e]+(?: [\x21-\x7e]+)*$/,
    'must be an SPF record; write it as v=spf1 a mx ~all',
  ],
  [/^.{1,255}$/, 'must have at most 255 characters'],
);

/** An address and port to listen on, as in `EMAIL_LISTEN` and `SMPP_LISTEN`. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export const listenAddress = form<ListenAddress>(
  'must be an address and a port to listen on; write it as 127.0.0.1:2525, 0.0.0.0:25 or [::]:25',
  (written) => {
    const [, v6, name = '', port = ''] =
      /^(?:\[([0-9a-fA-F:.]+)\]|([0-9A-Za-z.-]+)):(\d{1,5})$/.exec(written) ?? [];
    const isPort = port !== '' && Number(port) <= MAX_PORT;
    if (!isPort || (v6 !== undefined && isIP(v6) !== 6)) return undefined;
    return { host: v6 ?? name, port: Number(port) };
  },
);

const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** `50/s`, `100/10s`. */
export function rateText({ max, per }: Rate): string {
  const [length, unit] = UNITS.find(([ms]) => per % ms === 0) ?? [1, 'ms'];
  return `${max}/${per === length ? '' : per / length}${unit}`;
}
