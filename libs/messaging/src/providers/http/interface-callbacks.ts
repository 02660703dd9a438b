import type { DefaultCallbackForm } from '../../callbacks/callback-endpoints.js';
import { isObject, readEntries } from '../../callbacks/callback-fields.js';
import { readMessage } from '../../callbacks/callback-map.js';
import { isSignedBy, rawBodyOf } from '../../callbacks/verifiers.js';
import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { DeliveryReport, InboundMessage, ReportDetails } from '../../message/events.js';
import { MessagingConfigError } from '../../message/errors.js';
import { addressOf } from '../../message/address.js';
import type { ChannelDefinition } from '../../message/channel-definition.js';
import {
  errorCode,
  identifier,
  moment,
  own,
  recipientNumber,
  word,
} from '../../message/report-fields.js';
import { type ChannelStatus, isReportedStatus } from '../../message/status.js';
import type { CallbackParser, CallbackVerifier } from '../../ports/callback-parser.js';
import { contentOfWire } from './inbound-wire.js';

export function interfaceCallbacks(channels: ChannelRegistry): DefaultCallbackForm {
  return { parser: interfaceParser(channels), verifier: standardWebhooks };
}

/**
 * Reads a delivery report of the interface: the `data` of a callback, or an item of a report list.
 * A field of the wrong type counts as missing, a time without an offset as unknown. A status without
 * a mapping is kept raw.
 * @returns the report, or the reason why there is none (without content or numbers)
 */
export function readDeliveryReport(
  data: unknown,
  isReported: (status: unknown) => status is ChannelStatus = isReportedStatus,
): DeliveryReport | string {
  if (!isObject(data)) return 'not an object';
  const reference = identifier(own(data, 'reference_id'));
  const messageId = identifier(own(data, 'message_id'));
  if (reference === null && messageId === null) return 'neither reference_id nor message_id';
  const rawStatus = word(own(data, 'status'));
  if (rawStatus === null) return 'no status';
  const status = rawStatus.toLowerCase();
  const to = own(data, 'to');
  const details = bounceOf(own(data, 'bounce')) ?? callOf(data);
  return {
    reference,
    messageId,
    recipient: recipientNumber(to) ?? addressOf('email', to)?.value ?? null,
    status: isReported(status) ? status : null,
    rawStatus,
    errorCode: errorCode(own(data, 'error_code')),
    providerTime: moment(own(data, 'smsc_timestamp')),
    ...(details && { details }),
  };
}

/** Fields of a call in a report. */
const CALL = [
  'answered_at',
  'ended_at',
  'duration',
  'billed_seconds',
  'cost',
  'currency',
  'hangup_cause',
  'answered_by',
  'digits',
];

/** The known fields of a call; `undefined`: the report is about none. */
function callOf(data: object): ReportDetails | undefined {
  // Messages of other channels have a cost, too.
  if (!Object.hasOwn(data, 'answered_at')) return undefined;
  const fields = CALL.flatMap((name) => {
    const value = own(data, name);
    const known = typeof value === 'number' ? value : word(value);
    return known === null ? [] : [[name, known] as const];
  });
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

const BOUNCE = ['category', 'smtp_code', 'enhanced_code', 'diagnostic', 'remote_mta'];
const MOST_DIAGNOSTIC = 1_000;

/** The known fields of a bounce; `undefined`: there is none. */
function bounceOf(given: unknown): ReportDetails | undefined {
  if (!isObject(given)) return undefined;
  const values = BOUNCE.map((name) => {
    const value = own(given, name);
    if (typeof value === 'number') return [name, value] as const;
    const text = typeof value === 'string' ? value.replace(/[\p{Cc}\p{Cs}]/gu, ' ') : null;
    return [name, text?.slice(0, MOST_DIAGNOSTIC) ?? null] as const;
  });
  return Object.fromEntries(values);
}

/** Fields of an inbound message; the event's time is used where the message has none. */
const MESSAGE = {
  messageId: 'message_id',
  from: 'from',
  bsuid: 'bsuid',
  to: 'to',
  text: ['text', 'body', 'content'],
  content: contentOfWire,
  profileName: 'profile_name',
  repliesTo: 'replies_to',
  time: ['received_at', 'timestamp'],
};

/**
 * Parser of the interface's events (`{ type, timestamp, data }`) and bare `data` of reports, one or
 * an array, as JSON, form or query. Events that are no channel's are skipped.
 */
export function interfaceParser(channels: ChannelRegistry): CallbackParser {
  const isReported = (status: unknown): status is ChannelStatus =>
    channels.isReported(status) || channels.isEvent(status);
  return {
    parse: (request) =>
      readEntries(request, (entry) => {
        if (!Object.hasOwn(entry, 'data')) return readDeliveryReport(entry, isReported);
        const data = own(entry, 'data');
        const type = own(entry, 'type');
        if (typeof type !== 'string') return readDeliveryReport(data, isReported);
        const channel = channels.ofEvent(type);
        if (!channel) return undefined;
        if (channel.wire?.order) return readOrder(data, isReported);
        if (channel.wire?.receivedEvent !== type)
          return readDeliveryReport(withEvent(data, type, channel), isReported);
        if (!isObject(data)) return 'no data';
        const message = { ...data, timestamp: own(entry, 'timestamp') };
        return channel.addressKinds[0] === 'email'
          ? readEmail(message, channel.name)
          : readPhoneMessage(message, channel.name);
      }),
  };
}

function readPhoneMessage(data: object, channel: string): InboundMessage | string {
  const message = readMessage(data, MESSAGE, channel, identifier);
  const opensWindow = own(data, 'opens_window') !== false;
  return opensWindow || typeof message === 'string' ? message : { ...message, opensWindow };
}

/** A callback about an order, which we know by the key that we gave it. */
function readOrder(
  data: unknown,
  isReported: (status: unknown) => status is ChannelStatus,
): DeliveryReport | string {
  const reference = identifier(own(data, 'client_reference'));
  if (!isObject(data) || reference === null) return 'no client_reference';
  const report = readDeliveryReport({ ...data, reference_id: reference }, isReported);
  if (typeof report === 'string') return report;
  const details = orderDetailsOf(data);
  return { ...report, messageId: null, ...(details && { details }) };
}

const ORDER_FACTS = ['cost', 'delivered_amount', 'operator_reference'];

/** Facts of an order; `undefined`: none. */
export function orderDetailsOf(order: unknown): ReportDetails | undefined {
  const facts = ORDER_FACTS.flatMap((name) => {
    const value = word(own(order, name));
    return value === null ? [] : [[name, value] as const];
  });
  return facts.length > 0 ? Object.fromEntries(facts) : undefined;
}

/** The data of an event such as `email.delayed`, or one that the data names, which leaves the status as it was. */
function withEvent(data: unknown, type: string, { wire, events = [] }: ChannelDefinition): unknown {
  const named = own(data, 'event');
  const event = wire?.statusEvent.includes('*')
    ? events.find((name) => wire.statusEvent.replace('*', name) === type)
    : events.find((name) => name === named);
  return event !== undefined && isObject(data) ? { ...data, status: event } : data;
}

/** An e-mail: its sender is not proven to us, so that its words change no consent. */
function readEmail(data: object, channel: string): InboundMessage | string {
  const messageId = identifier(own(data, 'message_id'));
  if (messageId === null) return 'names no message';
  const to = addressOf('email', own(data, 'to'))?.value;
  if (to === undefined) return 'no destination address';
  const from = addressOf('email', own(data, 'from'))?.value;
  if (from === undefined) return 'no sender';
  const text = own(data, 'text');
  return {
    messageId,
    channel,
    from,
    bsuid: null,
    to,
    text: typeof text === 'string' && text !== '' ? text : null,
    sentAt: moment(own(data, 'received_at')) ?? moment(own(data, 'timestamp')),
    authentic: false,
  };
}

/** Most seconds between the time of a signature and now, in both directions. */
const TOLERANCE = 300;
const MIN_KEY_BYTES = 16;

/**
 * Verifies symmetric Standard Webhooks (`v1`): HMAC-SHA256 over `{id}.{timestamp}.{raw body}` by
 * any of the secrets, at most five minutes old or early. A GET always fails: its query is unsigned.
 * @param header start of the names of its headers
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * @throws MessagingConfigError naming the secret by its index, never by its value
 */
export function standardWebhooks(
  secrets: readonly string[],
  option = 'standardWebhooks.secrets',
  header = 'webhook',
): CallbackVerifier {
  const keys = secrets.map((secret, index) => keyOf(secret, `${option}[${index}]`));
  return {
    verify: (request) => {
      const { method, headers, receivedAt } = request;
      if (method === 'GET') return false;
      const id = headers[`${header}-id`];
      const timestamp = headers[`${header}-timestamp`];
      const signatures = headers[`${header}-signature`];
      if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
        return false;
      if (!/^\d{1,12}$/.test(timestamp)) return false;
      if (Math.abs(receivedAt / 1000 - Number(timestamp)) > TOLERANCE) return false;
      const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), rawBodyOf(request)]);
      const given = signatures
        .split(' ')
        .filter((entry) => entry.startsWith('v1,'))
        .map((entry) => Buffer.from(entry.slice(3), 'base64'));
      return isSignedBy(keys, 'sha256', signed, given);
    },
  };
}

function keyOf(secret: unknown, option: string): Buffer {
  const reject = (cause: string): never => {
    throw new MessagingConfigError(
      `${option}: ${cause}; pass the secret as the service showed it, whsec_ and base64`,
    );
  };
  if (typeof secret !== 'string' || secret === '') return reject('is missing');
  if (/\s/.test(secret)) return reject('white space or a newline was copied with it');
  if (!secret.startsWith('whsec_')) return reject('does not start with whsec_');
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(secret.slice(6))) return reject('is no base64 after whsec_');
  const key = Buffer.from(secret.slice(6), 'base64');
  return key.length < MIN_KEY_BYTES ? reject(`is shorter than ${MIN_KEY_BYTES} bytes`) : key;
}
