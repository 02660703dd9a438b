import { createHmac, timingSafeEqual } from 'node:crypto';
import { callbackEntries } from '../../callbacks/callback-fields.js';
import { rawBodyOf } from '../../callbacks/verifiers/secret.js';
import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { DeliveryReport } from '../../message/delivery-report.js';
import { MessagingConfigError } from '../../message/errors.js';
import type { InboundMessage } from '../../message/inbound-message.js';
import type { Channel } from '../../message/message.js';
import {
  identifier,
  moment,
  own,
  plausible,
  recipientNumber,
  word,
} from '../../message/report-fields.js';
import { type ChannelStatus, isReportedStatus } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import type {
  CallbackRequest,
  CallbackVerifier,
  DeliveryReportParser,
  ParsedReports,
} from '../../ports/delivery-report-parser.js';
import type { InboundParser, ParsedInbound } from '../../ports/inbound-parser.js';

/**
 * Reads one delivery report in the interface's own form: the `data` of a callback, or an item of a report list. A
 * field of the wrong type counts as missing. A time without an offset, before 1990 or more than a day after `now`
 * counts as unknown. A status without a mapping is kept raw.
 *
 * @returns the report, or one line with the reason why there is none (without content or numbers)
 */
export function readDeliveryReport(
  data: unknown,
  now: number,
  isReported: (status: unknown) => status is ChannelStatus = isReportedStatus,
): DeliveryReport | string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return 'not an object';
  const reference = identifier(own(data, 'reference_id'));
  const messageId = identifier(own(data, 'message_id'));
  if (reference === null && messageId === null) return 'neither reference_id nor message_id';
  const rawStatus = word(own(data, 'status'));
  if (rawStatus === null) return 'no status';
  const status = rawStatus.toLowerCase();
  return {
    reference,
    messageId,
    recipient: recipientNumber(own(data, 'to')),
    status: isReported(status) ? status : null,
    rawStatus,
    errorCode: word(own(data, 'error_code')),
    providerTime: plausible(moment(own(data, 'smsc_timestamp')), now),
  };
}

/**
 * Parser of the interface's own form: `{ type, timestamp, data }`, or the bare `data`, one or an array of them, as
 * JSON, form or query. Events of other types are skipped.
 */
export class InterfaceReportParser implements DeliveryReportParser {
  constructor(
    private readonly clock: Clock,
    private readonly channels: ChannelRegistry,
  ) {}

  /** @throws UnreadableCallbackError where the callback has no entry */
  parse(request: CallbackRequest): ParsedReports {
    const entries = callbackEntries(request);
    const now = this.clock.now();
    const reports: DeliveryReport[] = [];
    const errors: string[] = [];
    entries.forEach((entry, index) => {
      const data = this.#dataOf(entry);
      if (data === FOREIGN) return;
      const report = readDeliveryReport(data, now, (status): status is ChannelStatus =>
        this.channels.isReported(status),
      );
      if (typeof report === 'string') errors.push(`entry ${index}: ${report}`);
      else reports.push(report);
    });
    return { reports, errors };
  }

  /** Returns the data of the event, or a bare entry itself. */
  #dataOf(entry: unknown): unknown {
    if (typeof entry !== 'object' || entry === null || !Object.hasOwn(entry, 'data')) return entry;
    const { type, data } = entry as { type?: unknown; data: unknown };
    if (typeof type !== 'string' || this.channels.ofEvent(type)?.wire?.statusEvent === type)
      return data;
    return FOREIGN;
  }
}

const FOREIGN = Symbol('an event of another type');

/**
 * Parser of the interface's own form: `{ type: 'whatsapp.message_received', timestamp, data: { message_id, from, to,
 * text, received_at } }`, one or an array of them. Events of other types are skipped.
 */
export class InterfaceInboundParser implements InboundParser {
  constructor(
    private readonly clock: Clock,
    private readonly channels: ChannelRegistry,
  ) {}

  /** @throws UnreadableCallbackError where the callback has no entry */
  parse(request: CallbackRequest): ParsedInbound {
    const now = this.clock.now();
    const messages: InboundMessage[] = [];
    const errors: string[] = [];
    callbackEntries(request).forEach((entry, index) => {
      if (typeof entry !== 'object' || entry === null) return;
      const type = own(entry, 'type');
      const channel = typeof type === 'string' ? this.channels.ofEvent(type) : undefined;
      if (!channel || channel.wire?.receivedEvent !== type) return;
      const message = readMessage(channel.name, own(entry, 'data'), own(entry, 'timestamp'), now);
      if (typeof message === 'string') errors.push(`entry ${index}: ${message}`);
      else messages.push(message);
    });
    return { messages, errors };
  }
}

function readMessage(
  channel: Channel,
  data: unknown,
  timestamp: unknown,
  now: number,
): InboundMessage | string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return 'no data';
  const messageId = identifier(own(data, 'message_id'));
  if (messageId === null) return 'no message_id';
  const to = recipientNumber(own(data, 'to'));
  if (to === null) return 'no destination number';
  const from = recipientNumber(own(data, 'from'));
  const bsuid = identifier(own(data, 'bsuid'));
  if (from === null && bsuid === null) return 'neither from nor bsuid';
  const text = own(data, 'text') ?? own(data, 'body') ?? own(data, 'content');
  return {
    messageId,
    channel,
    from,
    bsuid,
    to,
    text: typeof text === 'string' ? text : null,
    sentAt: plausible(moment(own(data, 'received_at')) ?? moment(timestamp), now),
  };
}

/** Most seconds between the time of a signature and now, in both directions. */
const TOLERANCE = 300;
/** Most signatures checked in one header; a rotation needs two. */
const MAX_SIGNATURES = 8;
const MIN_KEY_BYTES = 16;

/**
 * Verifies Standard Webhooks, symmetric (`v1`): HMAC-SHA256 over `{id}.{timestamp}.{raw body}`, at most five minutes
 * old or early, by any of several secrets, compared in constant time. A GET always fails, because the signature does
 * not cover its query.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export class StandardWebhooksVerifier implements CallbackVerifier {
  readonly #keys: readonly Buffer[];

  /** @throws MessagingConfigError naming the secret by its index, never by its value */
  constructor(
    secrets: readonly string[],
    private readonly clock: Clock,
    option = 'callbacks.secrets',
  ) {
    this.#keys = secrets.map((secret, index) => keyOf(secret, `${option}[${index}]`));
  }

  /** @throws MessagingConfigError where the application keeps no raw bodies */
  verify(request: CallbackRequest): boolean {
    const { method, headers } = request;
    if (method === 'GET') return false;
    const id = headers['webhook-id'];
    const timestamp = headers['webhook-timestamp'];
    const signatures = headers['webhook-signature'];
    if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
      return false;
    if (!/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(this.clock.now() / 1000 - Number(timestamp)) > TOLERANCE) return false;
    const signed = rawBodyOf(request);
    const given = signatures
      .split(' ', MAX_SIGNATURES)
      .flatMap((entry) => (entry.startsWith('v1,') ? [Buffer.from(entry.slice(3), 'base64')] : []));
    return this.#keys.some((key) => {
      const expected = createHmac('sha256', key)
        .update(`${id}.${timestamp}.`)
        .update(signed)
        .digest();
      return given.some(
        (signature) => signature.length === expected.length && timingSafeEqual(signature, expected),
      );
    });
  }
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
