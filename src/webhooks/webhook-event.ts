import { type Channel, type InboundReceived, type MessageStatusChanged } from '@dundun/messaging';

/** Body of a callback about a message's status. */
export interface StatusEvent {
  readonly type: string;
  /** When this event was made, RFC 3339 UTC. */
  readonly timestamp: string;
  readonly data: {
    /** The batch; on WhatsApp the message's id before the platform's was known. */
    readonly reference_id: string;
    /** On WhatsApp the platform's, once it is known. */
    readonly message_id: string;
    readonly to: string;
    readonly from: string;
    readonly status: string;
    readonly error_code: string | null;
    /** When the SMSC reported, else when we learned; RFC 3339 UTC. */
    readonly smsc_timestamp: string;
    /** 1 for the message's first event, then 2, … */
    readonly sequence: number;
  };
}

interface EventForm {
  readonly type: string;
  ids(change: MessageStatusChanged): Pick<StatusEvent['data'], 'reference_id' | 'message_id'>;
}

const EVENTS: Partial<Record<Channel, EventForm>> = {
  sms: {
    type: 'sms.delivery_report',
    ids: ({ batchId, messageId }) => ({ reference_id: batchId, message_id: messageId }),
  },
  whatsapp: {
    type: 'whatsapp.message_status',
    ids: ({ messageId, providerId }) => ({
      reference_id: messageId,
      message_id: providerId ?? messageId,
    }),
  },
};

/** A provider's code may be any text; a callback stays far below 20 kB. */
const MAX_ERROR_CODE = 255;

/** Does the change call for a callback: asked for, from `sent` on, on a channel that has one. */
export function callsBack(change: MessageStatusChanged): boolean {
  return (
    change.deliveryReport === 'yes' &&
    change.sequence > 0 &&
    change.status !== 'cancelled' &&
    EVENTS[change.channel] !== undefined
  );
}

/** The callback's body. The message's text is never in it. */
export function statusEventBody(change: MessageStatusChanged, madeAt: number): string {
  const form = EVENTS[change.channel];
  if (!form) throw new TypeError(`${change.channel} has no callback`);
  const event: StatusEvent = {
    type: form.type,
    timestamp: new Date(madeAt).toISOString(),
    data: {
      ...form.ids(change),
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

/** Body of a callback about what somebody wrote. */
export interface ReceivedEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    /** The platform's. */
    readonly message_id: string;
    /** Who wrote; `null` where only the `bsuid` is known. */
    readonly from: string | null;
    readonly bsuid: string | null;
    /** The account's number they wrote to. */
    readonly to: string;
    /** `null`: something else than a text. */
    readonly text: string | null;
    readonly received_at: string;
  };
}

/** As long as a WhatsApp text can be; a callback stays below 20 kB. */
const MAX_TEXT = 4_096;

/** Is it called back: WhatsApp alone has inbound messages on this interface. */
export function inboundCallsBack({ channel }: InboundReceived): boolean {
  return channel === 'whatsapp';
}

export function receivedEventBody(received: InboundReceived, madeAt: number): string {
  const { messageId, from, bsuid, to, text, sentAt } = received;
  const event: ReceivedEvent = {
    type: 'whatsapp.message_received',
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
