import type { ChannelDefinition } from '../message/channel-definition.js';
import type { DeliveryReport } from '../message/delivery-report.js';
import { MessagingConfigError } from '../message/errors.js';
import { recipientNumber, word } from '../message/report-fields.js';
import { type ChannelStatus, isReportedStatus } from '../message/status.js';
import type { DeliveryReportParser, ParsedReports } from '../ports/delivery-report-parser.js';
import {
  type EntryMap,
  type FieldName,
  first,
  idOf,
  readEntries,
  type TimeFormat,
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
