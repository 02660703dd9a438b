import {
  type Channel,
  ChannelRegistry,
  type InboundReceived,
  type MessageStatusChanged,
  type VasOrderView,
} from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import { Bounce, Field, Text, Timestamp, WholeNumber } from '../http/fields.js';
import { Metadata, Tags } from '../http/label-fields.js';
import { CallFactsFields } from '../http/call-facts.js';

const MESSAGE_ID = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0';
const TO = '2348012345678';

class StatusEventData {
  @Text({
    description: 'The batch; on WhatsApp the message’s id before the platform’s was known.',
    examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd'],
  })
  readonly reference_id!: string;

  @Text({
    description: 'The message; on WhatsApp the platform’s id, once it is known.',
    examples: [MESSAGE_ID],
  })
  readonly message_id!: string;

  @Text({ description: 'The recipient; empty once it was erased.', examples: [TO] })
  readonly to!: string;
  @Text({ description: 'Sender ID or number.', examples: ['ACME'] }) readonly from!: string;
  @Text({ examples: ['delivered'] }) readonly status!: string;
  @Text({ nullable: true }) readonly error_code!: string | null;

  @Timestamp({ description: 'Time of the provider’s report, else of its arrival.' })
  readonly smsc_timestamp!: string;

  @WholeNumber({
    minimum: 1,
    description: 'Which change of the message’s status, or event of it, this is: 1, then 2, …',
    examples: [2],
  })
  readonly sequence!: number;

  @Tags({ optional: true, description: 'Tags of the send, where it has tags or metadata.' })
  readonly tags?: readonly string[];

  @Metadata({ optional: true, description: 'Metadata of the send, where it has tags or metadata.' })
  readonly metadata?: Readonly<Record<string, string>>;
}

class LabelledEventData extends StatusEventData {
  @Text({ description: 'The recipient; empty once it was erased.', examples: ['ada@example.com'] })
  declare readonly to: string;

  @Text({ description: 'Address of the sender.', examples: ['hello@demo.test'] })
  declare readonly from: string;

  @Tags() declare readonly tags: readonly string[];

  @Metadata() declare readonly metadata: Readonly<Record<string, string>>;

  @Bounce()
  readonly bounce!: MessageStatusChanged['details'] | null;
}

/** The fields of a status, and the facts of the call. */
class CallEventData extends IntersectionType(StatusEventData, CallFactsFields) {
  @Text({ description: 'Caller id.', examples: ['2348000000001'] }) declare readonly from: string;
  @Text({ examples: ['completed'] }) declare readonly status: string;

  @Text({
    nullable: true,
    description:
      '`redial`: the line was busy or nobody answered, and the number is dialled again. `digits`: the person pressed some. Both leave the status.',
    examples: [null],
  })
  readonly event!: string | null;
}

class OrderEventData extends StatusEventData {
  @Text({ description: 'Empty: an order has no sender.', examples: [''] })
  declare readonly from: string;

  @Text({ nullable: true, examples: ['shop-1001'] }) readonly client_reference!: string | null;
  @Text({ nullable: true, examples: ['97'] }) readonly cost!: string | null;

  @Text({ nullable: true, description: 'What arrived.', examples: ['100'] })
  readonly delivered_amount!: string | null;

  @Text({ nullable: true, examples: ['SIM-1'] }) readonly operator_reference!: string | null;
}

class ReceivedEventData {
  @Text({ description: 'The platform’s id.', examples: [MESSAGE_ID] }) readonly message_id!: string;

  @Text({
    nullable: true,
    description:
      'The sender’s number or address; null: only the bsuid is known, or the person was erased.',
    examples: [TO],
  })
  readonly from!: string | null;

  @Text({ nullable: true }) readonly bsuid!: string | null;

  @Text({ description: 'The account’s number or address.', examples: ['2340012345678'] })
  readonly to!: string;

  @Text({
    nullable: true,
    description: 'null: the message is not a text, or the person was erased.',
    examples: ['Thank you'],
  })
  readonly text!: string | null;

  @Timestamp() readonly received_at!: string;
}

class CallbackEvent {
  @Text() readonly type!: string;
  @Timestamp({ description: 'When the gateway made this event.' }) readonly timestamp!: string;
}

export class StatusEvent extends CallbackEvent {
  @Field({ type: StatusEventData }) readonly data!: StatusEventData;
}

/** Event of a channel whose sends have tags and metadata. */
export class LabelledEvent extends CallbackEvent {
  @Field({ type: LabelledEventData }) readonly data!: LabelledEventData;
}

/** Event of a channel whose messages are calls. */
export class CallEvent extends CallbackEvent {
  @Field({ type: CallEventData }) readonly data!: CallEventData;
}

/** Event of a channel whose messages are orders. */
export class OrderEvent extends CallbackEvent {
  @Field({ type: OrderEventData }) readonly data!: OrderEventData;
}

export class ReceivedEvent extends CallbackEvent {
  @Field({ type: ReceivedEventData }) readonly data!: ReceivedEventData;
}

/** An event for the webhooks of an account. */
export interface OutboxEvent {
  readonly account: string;
  readonly messageId: string;
  readonly sequence: number;
  readonly type: string;
  readonly data: object;
}

/** Width of the column. */
const MAX_MESSAGE_ID = 64;

/** A provider's code may be any text; a callback stays below 20 kB. */
const MAX_ERROR_CODE = 255;

/** The longest WhatsApp text; a callback stays below 20 kB. */
const MAX_TEXT = 4_096;

/** Builds the callbacks of each channel; they never contain the text of a sent message. */
@Injectable()
export class WebhookEvents {
  constructor(private readonly channels: ChannelRegistry) {}

  /** `undefined`: not requested by the send, below `sent`, or a channel without callbacks. */
  ofStatus(
    change: MessageStatusChanged,
    {
      facts,
      order,
    }: {
      readonly facts?: object | undefined;
      readonly order?: VasOrderView | undefined;
    } = {},
  ): OutboxEvent | undefined {
    const { channel, tenant, batchId, messageId, providerId, sequence, status, event } = change;
    const wire = this.channels.find(channel)?.wire;
    const type = this.channels.statusEventOf(channel, event ?? status);
    if (!wire || type === undefined || !this.isSent(change)) return undefined;
    const isOfBatch = wire.identifiedBy === 'batch';
    // Object spread takes 4 of this function's 5 µs.
    const data = {
      reference_id: isOfBatch ? batchId : messageId,
      message_id: isOfBatch ? messageId : (providerId ?? messageId),
      to: change.recipient,
      from: change.sender,
      status,
      error_code: change.errorCode?.slice(0, MAX_ERROR_CODE) ?? null,
      smsc_timestamp: change.providerTime.toISOString(),
      sequence,
    };
    if (wire.labels || change.tags)
      Object.assign(data, { tags: change.tags ?? [], metadata: change.metadata ?? {} });
    if (wire.labels)
      Object.assign(data, { bounce: (type.endsWith('.bounced') && change.details) || null });
    if (wire.call) Object.assign(data, { event: event ?? null }, facts);
    if (wire.order)
      Object.assign(data, {
        client_reference: order?.clientReference ?? null,
        cost: order?.cost == null ? null : Number(order.cost),
        delivered_amount: order?.deliveredAmount ?? null,
        operator_reference: order?.operatorReference ?? null,
      });
    return { account: tenant, messageId, sequence, type, data };
  }

  /** Whether its account gets a callback of the change, where the channel has callbacks. */
  isSent({ deliveryReport, event, status }: MessageStatusChanged): boolean {
    if (deliveryReport !== 'yes') return false;
    if (event !== undefined) return true;
    return this.#rankOf(status) >= this.#rankOf('sent') && status !== 'cancelled';
  }

  #rankOf(status: string): number {
    return this.channels.rankOf(status) ?? 0;
  }

  ofInbound(received: InboundReceived): OutboxEvent | undefined {
    const { channel, tenant, messageId, from, bsuid, to, text, sentAt } = received;
    const type = this.channels.find(channel)?.wire?.receivedEvent;
    if (type === undefined) return undefined;
    return {
      account: tenant,
      messageId: messageId.slice(0, MAX_MESSAGE_ID),
      sequence: 1,
      type,
      data: {
        message_id: messageId,
        from,
        bsuid,
        to,
        text: text?.slice(0, MAX_TEXT) ?? null,
        received_at: sentAt.toISOString(),
      },
    };
  }

  /** Whether callbacks of the channel have the facts of a call. */
  isCall(channel: Channel): boolean {
    return this.channels.find(channel)?.wire?.call ?? false;
  }

  isOrder(channel: Channel): boolean {
    return this.channels.find(channel)?.wire?.order ?? false;
  }

  channelOf(body: string): Channel {
    const type = /^\{"type":"([^"]*)"/.exec(body)?.[1] ?? '';
    return this.channels.ofEvent(type)?.name ?? type;
  }
}
