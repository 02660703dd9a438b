import type { ChannelDefinition } from '../message/channel-definition.js';
import type { DeliveryReport } from '../message/delivery-report.js';
import { MessagingConfigError } from '../message/errors.js';
import type { InboundMessage } from '../message/inbound-message.js';
import type { Channel } from '../message/message.js';
import { identifier, recipientNumber, word } from '../message/report-fields.js';
import { type ChannelStatus, isReportedStatus } from '../message/status.js';
import type { DeliveryReportParser, ParsedReports } from '../ports/delivery-report-parser.js';
import type { InboundParser, ParsedInbound } from '../ports/inbound-parser.js';
import {
  type EntryMap,
  type FieldName,
  type TimeFormat,
  first,
  idOf,
  readEntries,
  timeOf,
  valuesOf,
} from './callback-fields.js';

/** Which field of a provider's callback says what. */
export interface FieldMap extends EntryMap {
  /** The reference the submit was answered with. */
  readonly reference?: FieldName;
  /** The provider's id of the one message. */
  readonly messageId?: FieldName;
  readonly recipient?: FieldName;
  /** Where several are there, the first one that `statuses` knows decides; the first of all is kept raw. */
  readonly status: FieldName;
  /** The provider's words, in lower case, and what they mean here; others are kept raw and move nothing. */
  readonly statuses: Readonly<Record<string, ChannelStatus>>;
  /** A registered channel whose own statuses `statuses` may name. @default the built-in statuses alone */
  readonly channel?: ChannelDefinition;
  /** What the word ends at, where more is written behind it. */
  readonly statusEnd?: string;
  readonly errorCode?: FieldName;
  /** Codes that say there was no error. */
  readonly noError?: readonly string[];
  /** When the network reported. */
  readonly time?: FieldName;
  /** @default 'offset' */
  readonly timeFormat?: TimeFormat;
}

/**
 * Reads the callbacks of a provider by the names of their fields: JSON or form, one or many, POST or
 * GET. What has the wrong type counts as missing; an entry that names no message or no status is told
 * in `errors` and fails no other.
 *
 * @example
 * fieldMapParser({ messageId: 'id', recipient: 'msisdn', status: 'dlr', statuses: { ok: 'delivered' } })
 * @throws MessagingConfigError where the map cannot work.
 */
export function fieldMapParser(map: FieldMap): DeliveryReportParser {
  if (map.reference === undefined && map.messageId === undefined)
    throw new MessagingConfigError(
      'fields: reference or messageId must say what names the message',
    );
  const statuses = new Map<string, ChannelStatus>();
  for (const [theirs, ours] of Object.entries(map.statuses)) {
    if (!isReportedStatus(ours) && !map.channel?.statuses[ours]?.reported)
      throw new MessagingConfigError(`fields.statuses: ${String(ours)} is no status of a report`);
    statuses.set(theirs.toLowerCase(), ours);
  }
  return {
    parse: (request) => {
      const { found: reports, errors } = readEntries(request, map, (entry) =>
        readEntry(entry, map, statuses),
      );
      return { reports, errors } satisfies ParsedReports;
    },
  };
}

function readEntry(
  entry: object,
  map: FieldMap,
  statuses: ReadonlyMap<string, ChannelStatus>,
): DeliveryReport | string {
  const reference = first(entry, map.reference, idOf);
  const messageId = first(entry, map.messageId, idOf);
  if (reference === null && messageId === null) return 'names no message';
  const words = valuesOf(entry, map.status).flatMap((value) => {
    const whole = word(value);
    const text = map.statusEnd === undefined ? whole : word(whole?.split(map.statusEnd, 1)[0]);
    return text === null ? [] : [text];
  });
  const [rawStatus] = words;
  if (rawStatus === undefined) return 'no status';
  const known = words.find((text) => statuses.has(text.toLowerCase()));
  const errorCode = first(entry, map.errorCode, word);
  return {
    reference,
    messageId,
    recipient: first(entry, map.recipient, recipientNumber),
    status: (known !== undefined && statuses.get(known.toLowerCase())) || null,
    rawStatus: known ?? rawStatus,
    errorCode: errorCode !== null && map.noError?.includes(errorCode) ? null : errorCode,
    providerTime: first(entry, map.time, (value) => timeOf(value, map.timeFormat ?? 'offset')),
  };
}

/** Which field of a provider's callback says what somebody wrote. */
export interface InboundMap extends EntryMap {
  /** The provider's id of the message: what makes it count once. */
  readonly messageId: FieldName;
  /** Who wrote: a number however written, `whatsapp:+234…`, or a business-scoped user id. */
  readonly from: FieldName;
  /** WhatsApp's business-scoped user id of who wrote, where it has a field of its own. */
  readonly bsuid?: FieldName;
  /** The number or short code of ours they wrote to. */
  readonly to: FieldName;
  /** The first that is a text counts; an empty one is none. */
  readonly text?: FieldName;
  /** An entry that has one of these is something else than a text, whatever `text` finds in it. */
  readonly media?: FieldName;
  /** What says the channel; where it is not there, neither in front of `from`, it is an SMS. */
  readonly channel?: FieldName;
  /** Words for channels, in lower case; entries that say another are passed over. @default sms, mms, whatsapp */
  readonly channels?: Readonly<Record<string, Channel>>;
  /** When they wrote. */
  readonly time?: FieldName;
  /** @default 'offset' */
  readonly timeFormat?: TimeFormat;
}

const CHANNELS: Readonly<Record<string, Channel>> = {
  sms: 'sms',
  mms: 'sms',
  whatsapp: 'whatsapp',
};
/** `whatsapp:+2348012345678` */
const ADDRESS = /^([a-z]{1,16}):(.*)$/is;
/** A country, a point, an id; enterprises have `ENT` between. */
const BSUID = /^[A-Z]{2}\.[A-Za-z0-9.]{1,250}$/;

/**
 * Reads what people wrote by the names of a provider's fields, as `fieldMapParser` reads reports: JSON or
 * form, one or many, POST or GET. An entry that names no message, or nobody who wrote it, is told in
 * `errors` and fails no other.
 *
 * @example
 * inboundMapParser({ messageId: 'id', from: 'msisdn', to: 'shortcode', text: 'message' })
 * @throws MessagingConfigError where the map cannot work.
 */
export function inboundMapParser(map: InboundMap): InboundParser {
  for (const field of ['messageId', 'from', 'to'] as const)
    if (map[field] === undefined || map[field].length === 0)
      throw new MessagingConfigError(`fields.${field}: must name the field that says it`);
  const channels = new Map(Object.entries(map.channels ?? CHANNELS));
  return {
    parse: (request) => {
      const { found: messages, errors } = readEntries(request, map, (entry) =>
        readMessage(entry, map, channels),
      );
      return { messages, errors } satisfies ParsedInbound;
    },
  };
}

/** `undefined`: somebody wrote on a channel that is none of ours. */
function readMessage(
  entry: object,
  map: InboundMap,
  channels: ReadonlyMap<string, Channel>,
): InboundMessage | string | undefined {
  const [writer] = valuesOf(entry, map.from).map(addressOf);
  const said = writer?.scheme ?? first(entry, map.channel, word)?.toLowerCase();
  const channel = said === undefined ? 'sms' : channels.get(said);
  if (channel === undefined) return undefined;
  const messageId = first(entry, map.messageId, idOf);
  if (messageId === null) return 'names no message';
  const to = first(entry, map.to, ownNumber);
  if (to === null) return 'no number it was written to';
  const from = first(entry, map.from, numberOf);
  const bsuid = first(entry, map.bsuid, identifier) ?? first(entry, map.from, bsuidOf);
  if (from === null && bsuid === null) return 'nobody who wrote it';
  return {
    messageId,
    channel,
    from,
    bsuid,
    to,
    text: valuesOf(entry, map.media ?? []).length > 0 ? null : first(entry, map.text, textOf),
    sentAt: first(entry, map.time, (value) => timeOf(value, map.timeFormat ?? 'offset')),
  };
}

interface Address {
  /** What stands in front of it, in lower case. */
  readonly scheme: string | undefined;
  readonly rest: unknown;
}

function addressOf(value: unknown): Address {
  const [, scheme, rest] = (typeof value === 'string' && ADDRESS.exec(value)) || [];
  return { scheme: scheme?.toLowerCase(), rest: rest ?? value };
}

function numberOf(value: unknown): string | null {
  return recipientNumber(addressOf(value).rest);
}

/** Short codes and names are numbers of ours, too. */
function ownNumber(value: unknown): string | null {
  return numberOf(value) ?? idOf(addressOf(value).rest);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function bsuidOf(value: unknown): string | null {
  const { rest } = addressOf(value);
  return typeof rest === 'string' && BSUID.test(rest) ? rest : null;
}
