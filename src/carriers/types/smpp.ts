import { parsedUrl } from '@dundun/messaging/values';
import { oneOf, text, wholeNumber } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

function smscUrl(written: string): string {
  const url = parsedUrl(written);
  if ((url?.protocol !== 'smpp:' && url?.protocol !== 'smpps:') || url.hostname === '')
    throw new Error(
      'is no SMSC; write smpp://system_id:password@smsc.example.com:2775 or smpps://…',
    );
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    throw new Error('must be an address without path, query or fragment');
  if (!/^[\x21-\x7e]{1,15}$/.test(decoded(url.username) ?? ''))
    throw new Error('must have a system_id of 1 to 15 ASCII characters, percent-encoded');
  if (!/^[\x20-\x7e]{0,8}$/.test(decoded(url.password) ?? '\n'))
    throw new Error('must have a password of at most 8 ASCII characters, percent-encoded');
  return written;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Connections to the SMSC of each process that sends. */
export interface BindCounts {
  readonly transceiver: number;
  readonly transmitter: number;
  readonly receiver: number;
}

const KINDS = { trx: 'transceiver', tx: 'transmitter', rx: 'receiver' } as const;
const MOST_BINDS = 100;

/** `2`, `trx:2` or `tx:2,rx:1`. */
function bindCounts(written: string): BindCounts {
  const binds = { transceiver: 0, transmitter: 0, receiver: 0 };
  const listed = /^\d{1,3}$/.test(written) ? `trx:${written}` : written;
  for (const one of listed.split(',')) {
    const [, word = '', count = ''] = /^(trx|tx|rx):(\d{1,3})$/.exec(one) ?? [];
    const kind = Object.hasOwn(KINDS, word) ? KINDS[word as keyof typeof KINDS] : undefined;
    if (kind === undefined) throw new Error(FORM);
    binds[kind] += Number(count);
  }
  const senders = binds.transceiver + binds.transmitter;
  if (senders === 0 || senders + binds.receiver > MOST_BINDS) throw new Error(FORM);
  return binds;
}

const FORM = `must be the number of transceivers, or binds by kind, 1 to ${MOST_BINDS} with one that sends; write it as 2, trx:2 or tx:2,rx:1`;

function timeZone(written: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: written }).resolvedOptions().timeZone;
  } catch {
    throw new Error('must be a time zone of the IANA database; write it as Africa/Lagos');
  }
}

/** An SMSC, by SMPP 3.4. */
export const SMPP = carrierType(
  {
    url: {
      parse: smscUrl,
      secret: 'part',
      remedy: 'write smpp://system_id:password@smsc.example.com:2775',
    },
    binds: { parse: bindCounts, default: '1' },
    max_binds: { parse: wholeNumber(1, 1_000), optional: true },
    window: { parse: wholeNumber(1, 1_000), default: '10' },
    system_type: {
      parse: text([/^[\x20-\x7e]{0,12}$/, 'must be at most 12 ASCII characters']),
      optional: true,
    },
    long: { parse: oneOf('udh', 'sar', 'payload'), default: 'udh' },
    id_format: { parse: oneOf('text', 'hex', 'decimal'), default: 'text' },
    time_zone: { parse: timeZone, default: 'UTC' },
  },
  {
    channels: ['sms'],
    conflict: ({ binds, max_binds }) => {
      if (!binds || max_binds === undefined) return undefined;
      const each = binds.transceiver + binds.transmitter + binds.receiver;
      return max_binds < each
        ? ['max_binds', `must be at least ${each}, the binds of one process`]
        : undefined;
    },
    make: ({ url, binds, max_binds, window, system_type, long, id_format, time_zone }) => ({
      transport: {
        load: async () => {
          const { smpp } = await import('@dundun/messaging/smpp');
          return smpp({
            url,
            binds,
            maxBinds: max_binds,
            window,
            systemType: system_type,
            long,
            idFormat: id_format,
            timeZone: time_zone,
          });
        },
      },
    }),
  },
);
