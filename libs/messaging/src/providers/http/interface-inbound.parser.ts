import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { InboundMessage } from '../../message/inbound-message.js';
import type { Channel } from '../../message/message.js';
import {
  identifier,
  moment,
  own,
  plausible,
  recipientNumber,
} from '../../message/report-fields.js';
import type { Clock } from '../../ports/clock.js';
import type { CallbackRequest } from '../../ports/delivery-report-parser.js';
import type { InboundParser, ParsedInbound } from '../../ports/inbound-parser.js';
import { callbackEntries } from '../../callbacks/callback-entries.js';

/**
 * The interface's own form: `{ type: 'whatsapp.message_received', timestamp, data: { message_id, from,
 * to, text, received_at } }`, one or an array of them. Events of other types are passed over.
 */
export class InterfaceInboundParser implements InboundParser {
  constructor(
    private readonly clock: Clock,
    private readonly channels: ChannelRegistry,
  ) {}

  /** @throws UnreadableCallbackError where there is no entry to read at all. */
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
  if (to === null) return 'no number it was written to';
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
