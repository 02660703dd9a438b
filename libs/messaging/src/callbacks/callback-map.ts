import type { ChannelDefinition } from '../message/channel-definition.js';
import type { DeliveryReport, InboundMessage } from '../message/events.js';
import { MessagingConfigError } from '../message/errors.js';
import type { InboundContent } from '../message/content/inbound-content.js';
import type { Channel } from '../message/message.js';
import { errorCode, identifier, own, recipientNumber, word } from '../message/report-fields.js';
import { type ChannelStatus, isReportedStatus } from '../message/status.js';
import type { CallbackParser, CallbackRequest } from '../ports/callback-parser.js';
import {
  type EntryFilter,
  type FieldName,
  type TimeFormat,
  first,
  idOf,
  isObject,
  readEntries,
  selects,
  timeOf,
  valuesOf,
} from './callback-fields.js';
import { shortTextOf } from './inbound-contents.js';

/** The provider's words for each name, in any case of letters. */
type Words<Name extends string> = Readonly<Partial<Record<Name, string | readonly string[]>>>;

/** Names of the fields in a provider's delivery reports. */
export interface ReportMap extends EntryFilter {
  /** Our id of the submission, where the provider repeats it. */
  readonly submissionId?: FieldName;
  /** The reference from the answer to the submit. */
  readonly reference?: FieldName;
  readonly messageId?: FieldName;
  readonly recipient?: FieldName;
  /** The first of several values that is in `statuses` decides; without one, the first is stored raw. */
  readonly status: FieldName;
  /** The provider's words for each status; other words are stored raw and change no message. */
  readonly statuses: Words<ChannelStatus>;
  /** Channel whose own statuses `statuses` may name. @default only the built-in statuses */
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

/** Names of the fields in a provider's inbound messages. */
export interface InboundMap extends EntryFilter {
  /** The provider's id of the message, which identifies repetitions. */
  readonly messageId: FieldName;
  /** Sender: a number in any format, `whatsapp:+234…`, a business-scoped user id, or a name. */
  readonly from: FieldName;
  /** WhatsApp's business-scoped user id of the sender, where it has a field of its own. */
  readonly bsuid?: FieldName;
  /** The app's number or short code that received the message. */
  readonly to: FieldName;
  /** Text of the message. The first string counts; an empty string means no text. */
  readonly text?: FieldName | ((entry: object) => string | null);
  /** Media, a location and the like; `undefined`: the message is its text. @default the text */
  readonly content?: (entry: object) => InboundContent | undefined;
  /** The name that the sender shows on the platform. @default none */
  readonly profileName?: FieldName;
  /** The provider's id of the message that it answers. @default none */
  readonly repliesTo?: FieldName;
  /** An entry that has one of these fields has no text, whatever value `text` finds in it. */
  readonly media?: FieldName;
  /**
   * Whether the platform counts the entry as a message of the sender to the app's number;
   * `undefined`: the entry is no message and is skipped. @default true
   */
  readonly opensWindow?: (entry: object) => boolean | undefined;
  /** Channel of the messages that have no word for it. */
  readonly channel: Channel;
  /** The provider's word for the channel; a prefix in `from` or `to` (`whatsapp:+234…`) overrides it. */
  readonly channelWord?: FieldName;
  /** The words for each channel; other words are skipped. @default the name of `channel` */
  readonly channels?: Words<Channel>;
  readonly time?: FieldName;
  /** @default 'offset' */
  readonly timeFormat?: TimeFormat;
}

/** Fields of a provider's callbacks. */
export interface CallbackMap {
  /** Fields with lists of entries (`results`). @default the body is an entry or an array of them */
  readonly entries?: FieldName;
  /** @default no entry is a delivery report */
  readonly reports?: ReportMap;
  /** @default no entry is an inbound message */
  readonly messages?: InboundMap;
}

/**
 * Builds a parser from field names: JSON or form, one or several entries, POST or GET. A value of
 * the wrong type counts as missing. An unreadable entry is listed in `errors`; the others are read.
 * @example
 * callbackParser({
 *   reports: { messageId: 'id', recipient: 'to', status: 'dlr', statuses: { delivered: 'ok' } },
 *   messages: { messageId: 'id', from: 'msisdn', to: 'shortcode', text: 'message', channel: 'sms',
 *     except: 'dlr' },
 * })
 * @throws MessagingConfigError where a map is invalid
 */
export function callbackParser({ entries, reports, messages }: CallbackMap): CallbackParser {
  if (reports) checkReportMap(reports);
  if (messages) checkInboundMap(messages);
  const statuses = byWord(reports?.statuses);
  const channels = byWord(messages?.channels);
  const named = [reports?.messageId, reports?.reference, messages?.messageId, messages?.from]
    .filter((field) => field !== undefined)
    .flat();
  const isReport = (entry: object) => reports !== undefined && selects(reports, entry);
  const isMessage = (entry: object) => messages !== undefined && selects(messages, entry);
  return {
    parse: (request) =>
      readEntries(
        request,
        (entry) => {
          const report = reports && isReport(entry) && readReport(entry, reports, statuses);
          if (typeof report === 'object') return report;
          const message =
            messages && isMessage(entry) ? readOnChannel(entry, messages, channels) : undefined;
          return typeof message === 'object' ? message : report || message;
        },
        entries,
        (entry) =>
          (isReport(entry) || isMessage(entry)) &&
          // The query of a check of the address has the secret alone.
          (request.method === 'POST' || valuesOf(entry, named).length > 0),
      ),
  };
}

/** Reads an entry as a report, as the parser of `map` does; `undefined`: it is none. */
export function reportReader(map: ReportMap): (entry: unknown) => DeliveryReport | undefined {
  checkReportMap(map);
  const statuses = byWord(map.statuses);
  return (entry) => {
    if (!isObject(entry)) return undefined;
    const report = readReport(entry, map, statuses);
    return typeof report === 'string' ? undefined : report;
  };
}

/** Query parameter of our callback address with the id of the submission. */
const SUBMISSION = 'submission';

/** `callbackUrl` for the reports of one submission, as {@link namingSubmission} reads it. */
export function submissionLink(callbackUrl: URL, submissionId: string): string {
  const link = new URL(callbackUrl);
  link.searchParams.set(SUBMISSION, submissionId);
  return link.href;
}

/**
 * A parser whose reports name the submission of their address, so that they settle lost answers.
 * @param queryOf the query of {@link submissionLink}, where the provider repeats the address in its body
 */
export function namingSubmission(
  parser: CallbackParser,
  queryOf: (request: CallbackRequest) => object = ({ query }) => query,
): CallbackParser {
  return {
    parse: (request) => {
      const parsed = parser.parse(request);
      const submissionId = identifier(own(queryOf(request), SUBMISSION));
      if (submissionId === null) return parsed;
      const reports = parsed.reports?.map((report) => ({ submissionId, ...report }));
      return { ...parsed, ...(reports && { reports }) };
    },
  };
}

/** Names by the provider's words, in lower case. */
function byWord(words: Words<string> = {}): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, own = []] of Object.entries(words))
    for (const one of [own].flat()) found.set(one.toLowerCase(), name);
  return found;
}

function checkReportMap({ reference, messageId, statuses, channel }: ReportMap): void {
  if (reference === undefined && messageId === undefined)
    throw new MessagingConfigError(
      'reports: must name the field of the reference or of the messageId',
    );
  for (const status of Object.keys(statuses))
    if (!isReportedStatus(status) && !channel?.statuses[status]?.reported)
      throw new MessagingConfigError(`reports.statuses: ${status} is no status of a report`);
}

function readReport(
  entry: object,
  map: ReportMap,
  statuses: ReadonlyMap<string, ChannelStatus>,
): DeliveryReport | string {
  const submissionId = first(entry, map.submissionId, identifier);
  const reference = first(entry, map.reference, idOf);
  const messageId = first(entry, map.messageId, idOf);
  if (reference === null && messageId === null) return 'names no message';
  const words = valuesOf(entry, map.status).flatMap((value) => {
    const whole = word(value);
    const text = map.statusEnd === undefined ? whole : word(whole?.split(map.statusEnd, 1)[0]);
    return text === null ? [] : [text];
  });
  const rawStatus = words.find((text) => statuses.has(text.toLowerCase())) ?? words[0];
  if (rawStatus === undefined) return 'no status';
  const code = first(entry, map.errorCode, errorCode);
  return {
    ...(submissionId !== null && { submissionId }),
    reference,
    messageId,
    recipient: first(entry, map.recipient, recipientNumber),
    status: statuses.get(rawStatus.toLowerCase()) ?? null,
    rawStatus,
    errorCode: code !== null && map.noError?.includes(code) ? null : code,
    providerTime: first(entry, map.time, (value) => timeOf(value, map.timeFormat)),
  };
}

/** An address with a channel prefix, such as `whatsapp:+2348012345678`. */
const ADDRESS = /^([a-z]{1,16}):(.*)$/is;
/** Country, point, id; the id of an enterprise has `ENT` between them. */
const BSUID = /^[A-Z]{2}\.[A-Za-z0-9.]{1,250}$/;

function checkInboundMap(map: InboundMap): void {
  for (const field of ['messageId', 'from', 'to', 'channel'] as const)
    if (map[field] === undefined || map[field].length === 0)
      throw new MessagingConfigError(
        `messages.${field}: must name a ${field === 'channel' ? 'channel' : 'field'}`,
      );
}

/** `undefined`: the entry is no message, or its word for the channel is not in the map. */
function readOnChannel(
  entry: object,
  map: InboundMap,
  channels: ReadonlyMap<string, Channel>,
): InboundMessage | string | undefined {
  const ends = [...valuesOf(entry, map.from), ...valuesOf(entry, map.to)].map(addressOf);
  const scheme = ends.find((end) => end.scheme !== undefined)?.scheme;
  const said = scheme ?? first(entry, map.channelWord, word)?.toLowerCase() ?? map.channel;
  const channel = said === map.channel ? said : channels.get(said);
  const opensWindow = map.opensWindow ? map.opensWindow(entry) : true;
  if (channel === undefined || opensWindow === undefined) return undefined;
  const message = readMessage(entry, map, channel);
  return opensWindow || typeof message === 'string' ? message : { ...message, opensWindow };
}

/** @returns the message, or the reason why there is none (without content or numbers) */
export function readMessage(
  entry: object,
  map: Omit<InboundMap, 'channel'>,
  channel: Channel,
  readId = idOf,
): InboundMessage | string {
  const messageId = first(entry, map.messageId, readId);
  if (messageId === null) return 'names no message';
  // The app's own numbers include short codes and names.
  const to = first(entry, map.to, (value) => numberOf(value) ?? nameOf(value));
  if (to === null) return 'no destination number';
  const bsuid =
    first(entry, map.bsuid, (value) => identifier(addressOf(value).rest)) ??
    first(entry, map.from, bsuidOf);
  const number = first(entry, map.from, numberOf);
  // A short code or a name sends SMS under itself.
  const from =
    number ?? (channel === 'sms' && bsuid === null ? first(entry, map.from, nameOf) : null);
  if (from === null && bsuid === null) return 'no sender';
  const isMedia = valuesOf(entry, map.media ?? []).length > 0;
  const { text } = map;
  const content = map.content?.(entry);
  const profileName = first(entry, map.profileName, shortTextOf);
  const repliesTo = first(entry, map.repliesTo, readId);
  return {
    messageId,
    channel,
    from,
    bsuid,
    to,
    text: isMedia ? null : typeof text === 'function' ? text(entry) : first(entry, text, textOf),
    sentAt: first(entry, map.time, (value) => timeOf(value, map.timeFormat)),
    ...(content && { content }),
    ...(profileName !== null && { profileName }),
    ...(repliesTo !== null && repliesTo !== messageId && { repliesTo }),
  };
}

function addressOf(value: unknown): { readonly scheme?: string; readonly rest: unknown } {
  const [, scheme, rest] = (typeof value === 'string' && ADDRESS.exec(value)) || [];
  return scheme === undefined ? { rest: value } : { scheme: scheme.toLowerCase(), rest };
}

function numberOf(value: unknown): string | null {
  return recipientNumber(addressOf(value).rest);
}

/** A short code, or the alphanumeric name of a sender. */
function nameOf(value: unknown): string | null {
  return idOf(addressOf(value).rest);
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Types of WhatsApp messages that Meta counts as a customer's, in Meta's words and those of others. */
const PERSONAL =
  /^(text|image|video|audio|voice|document|file|media|sticker|location|contacts?|button|reply|order|infected_content|interactive.*)$/;
/** What happened in the chat without a message of the person. */
const NO_MESSAGE = ['system', 'request_welcome', 'revoke'];

/**
 * Whether a WhatsApp message opens the window, by its type; `undefined`: it is no message, such as a
 * reaction to nothing or one that was taken back.
 * @param reaction the emoji of a reaction
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/reference/messages
 */
export function opensWhatsAppWindow(type: unknown, reaction?: unknown): boolean | undefined {
  const kind = word(type)?.toLowerCase();
  if (kind === undefined) return true;
  if (kind === 'reaction') return word(reaction) === null ? undefined : true;
  return NO_MESSAGE.includes(kind) ? undefined : PERSONAL.test(kind);
}

function bsuidOf(value: unknown): string | null {
  const { rest } = addressOf(value);
  return typeof rest === 'string' && BSUID.test(rest) ? rest : null;
}
