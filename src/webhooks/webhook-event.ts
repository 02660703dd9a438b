import {
  type Channel,
  ChannelRegistry,
  FIRST_REPORTED_RANK,
  type InboundReceived,
  type MessageStatusChanged,
} from '@dundun/messaging';
import { Injectable } from '@nestjs/common';

/** Body of a callback about a message's status. */
export interface StatusEvent {
  readonly type: string;
  /** When this event was made, RFC 3339 UTC. */
  readonly timestamp: string;
  readonly data: {
    /** The batch; on WhatsApp the message's id before the platform's was known. */
    readonly reference_id: string;
    /** On WhatsApp the platform's id, once it is known. */
    readonly message_id: string;
    readonly to: string;
    readonly from: string;
    readonly status: string;
    readonly error_code: string | null;
    /** Time of the provider's report, else of its arrival; RFC 3339 UTC. */
    readonly smsc_timestamp: string;
    /** 1 for the message's first event, then 2, … */
    readonly sequence: number;
  };
}

/** Body of a callback about an inbound message. */
export interface ReceivedEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    /** The platform's id. */
    readonly message_id: string;
    /** The sender's number; `null` where only the `bsuid` is known. */
    readonly from: string | null;
    readonly bsuid: string | null;
    /** The account's number. */
    readonly to: string;
    /** `null`: not a text message. */
    readonly text: string | null;
    readonly received_at: string;
  };
}

/** A provider's code may be any text; a callback stays below 20 kB. */
const MAX_ERROR_CODE = 255;

/** The longest WhatsApp text; a callback stays below 20 kB. */
const MAX_TEXT = 4_096;

/** The callbacks of each channel, by its definition's wire form. A callback never has the text of a sent message. */
@Injectable()
export class WebhookEvents {
  constructor(private readonly channels: ChannelRegistry) {}

  /** Whether the change has a callback: requested with the message, from `sent` on, on a channel that has one. */
  hasCallback({ channel, deliveryReport, status }: MessageStatusChanged): boolean {
    return (
      deliveryReport === 'yes' &&
      (this.channels.rankOf(status) ?? 0) >= FIRST_REPORTED_RANK &&
      status !== 'cancelled' &&
      this.channels.find(channel)?.wire !== undefined
    );
  }

  /** @param madeAt epoch milliseconds */
  statusBody(change: MessageStatusChanged, madeAt: number): string {
    const { batchId, messageId, providerId } = change;
    const { wire } = this.channels.get(change.channel);
    const event: StatusEvent = {
      type: wire?.statusEvent ?? '',
      timestamp: new Date(madeAt).toISOString(),
      data: {
        ...(wire?.identifiedBy === 'batch'
          ? { reference_id: batchId, message_id: messageId }
          : { reference_id: messageId, message_id: providerId ?? messageId }),
        to: change.recipient,
        from: change.sender,
        status: change.status,
        error_code: change.errorCode?.slice(0, MAX_ERROR_CODE) ?? null,
        smsc_timestamp: change.providerTime.toISOString(),
        sequence: change.sequence,
      },
    };
    return JSON.stringify(event);
  }

  /** Whether inbound messages of the channel have a callback. */
  hasInboundCallback({ channel }: InboundReceived): boolean {
    return this.channels.find(channel)?.wire?.receivedEvent !== undefined;
  }

  /** @param madeAt epoch milliseconds */
  inboundBody(received: InboundReceived, madeAt: number): string {
    const { channel, messageId, from, bsuid, to, text, sentAt } = received;
    const event: ReceivedEvent = {
      type: this.channels.get(channel).wire?.receivedEvent ?? '',
      timestamp: new Date(madeAt).toISOString(),
      data: {
        message_id: messageId,
        from,
        bsuid,
        to,
        text: text?.slice(0, MAX_TEXT) ?? null,
        received_at: sentAt.toISOString(),
      },
    };
    return JSON.stringify(event);
  }

  /** The channel of a callback's body. */
  channelOf(body: string): Channel {
    const type = /^\{"type":"([^"]*)"/.exec(body)?.[1] ?? '';
    return this.channels.ofEvent(type)?.name ?? type;
  }
}
