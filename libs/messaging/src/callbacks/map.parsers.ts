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

/** Names of the fields in a provider's delivery reports. */
export interface FieldMap extends EntryMap {
  /** The reference from the answer to the submit. */
  readonly reference?: FieldName;
  /** The provider's id of the message. */
  readonly messageId?: FieldName;
  readonly recipient?: FieldName;
  /**
   * Status. Of several values, the first one that `statuses` maps decides; without one, the first value is stored as
   * the raw status.
   */
  readonly status: FieldName;
  /**
   * The provider's status words in lower case, and the statuses they map to. Other words are stored raw and change no
   * message.
   */
  readonly statuses: Readonly<Record<string, ChannelStatus>>;
  /** Registered channel whose own statuses `statuses` may name. @default only the built-in statuses */
  readonly channel?: ChannelDefinition;
  /** Separator that ends the status word where more text follows it. */
  readonly statusEnd?: string;
  readonly errorCode?: FieldName;
  /** Error codes that mean "no error". */
  readonly noError?: readonly string[];
  /** Time of the report at the network. */
  readonly time?: FieldName;
  /** @default 'offset' */
  readonly timeFormat?: TimeFormat;
}

/**
 * Builds a parser from field names: JSON or form, one or several entries, POST or GET. A value of the wrong type
 * counts as missing. An entry without a message or a status is listed in `errors` and does not affect the others.
 *
 * @example
 * fieldMapParser({ messageId: 'id', recipient: 'msisdn', status: 'dlr', statuses: { ok: 'delivered' } })
 * @throws MessagingConfigError where the map is invalid
 */
export function fieldMapParser(map: FieldMap): DeliveryReportParser {
  if (map.reference === undefined && map.messageId === undefined)
    throw new MessagingConfigError(
      'fields: must name the field of the reference or of the messageId',
    );
  const statuses = new Map<string, ChannelStatus>();
  for (const [providerWord, mapped] of Object.entries(map.statuses)) {
    if (!isReportedStatus(mapped) && !map.channel?.statuses[mapped]?.reported)
      throw new MessagingConfigError(`fields.statuses: ${String(mapped)} is no status of a report`);
    statuses.set(providerWord.toLowerCase(), mapped);
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

/** Names of the fields in a provider's inbound messages. */
export interface InboundMap extends EntryMap {
  /** The provider's id of the message, which identifies repetitions. */
  readonly messageId: FieldName;
  /** Sender: a number in any format, `whatsapp:+234…`, or a business-scoped user id. */
  readonly from: FieldName;
  /** WhatsApp's business-scoped user id of the sender, where it has a field of its own. */
  readonly bsuid?: FieldName;
  /** The app's number or short code that received the message. */
  readonly to: FieldName;
  /** Text of the message. The first string counts; an empty string means no text. */
  readonly text?: FieldName;
  /** An entry that has one of these fields has no text, whatever value `text` finds in it. */
  readonly media?: FieldName;
  /** Channel of the message. Without it, and without a prefix in `from`, the channel is SMS. */
  readonly channel?: FieldName;
  /**
   * Channel words in lower case, and their channels; entries with other words are skipped.
   * @default sms, mms, whatsapp
   */
  readonly channels?: Readonly<Record<string, Channel>>;
  /** Time of the message. */
  readonly time?: FieldName;
  /** @default 'offset' */
  readonly timeFormat?: TimeFormat;
}

const CHANNELS: Readonly<Record<string, Channel>> = {
  sms: 'sms',
  mms: 'sms',
  whatsapp: 'whatsapp',
};
/** An address with a channel prefix, such as `whatsapp:+2348012345678`. */
const ADDRESS = /^([a-z]{1,16}):(.*)$/is;
/** Country, point, id; the id of an enterprise has `ENT` between them. */
const BSUID = /^[A-Z]{2}\.[A-Za-z0-9.]{1,250}$/;

/**
 * Builds a parser of inbound messages from field names, as `fieldMapParser` does for reports: JSON or form, one or
 * several entries, POST or GET. An entry without a message id or a sender is listed in `errors` and does not affect
 * the others.
 *
 * @example
 * inboundMapParser({ messageId: 'id', from: 'msisdn', to: 'shortcode', text: 'message' })
 * @throws MessagingConfigError where the map is invalid
 */
export function inboundMapParser(map: InboundMap): InboundParser {
  for (const field of ['messageId', 'from', 'to'] as const)
    if (map[field] === undefined || map[field].length === 0)
      throw new MessagingConfigError(`fields.${field}: must name a field`);
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

/** `undefined`: the message came on a channel that the map does not name. */
function readMessage(
  entry: object,
  map: InboundMap,
  channels: ReadonlyMap<string, Channel>,
): InboundMessage | string | undefined {
  const [sender] = valuesOf(entry, map.from).map(addressOf);
  const channelWord = sender?.scheme ?? first(entry, map.channel, word)?.toLowerCase();
  const channel = channelWord === undefined ? 'sms' : channels.get(channelWord);
  if (channel === undefined) return undefined;
  const messageId = first(entry, map.messageId, idOf);
  if (messageId === null) return 'names no message';
  const to = first(entry, map.to, ownNumber);
  if (to === null) return 'no destination number';
  const from = first(entry, map.from, numberOf);
  const bsuid = first(entry, map.bsuid, identifier) ?? first(entry, map.from, bsuidOf);
  if (from === null && bsuid === null) return 'no sender';
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
  /** Prefix before the address, in lower case. */
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

/** The app's own numbers include short codes and names. */
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
