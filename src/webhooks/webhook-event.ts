import { type Channel, type MessageStatusChanged, STATUS_RANK } from '@dundun/messaging';

/** Body of a delivery report callback. */
export interface DeliveryReportEvent {
  readonly type: string;
  /** When this event was made, RFC 3339 UTC. */
  readonly timestamp: string;
  readonly data: {
    readonly reference_id: string;
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

const EVENT_TYPES: Partial<Record<Channel, string>> = { sms: 'sms.delivery_report' };

/** A provider's code may be any text; a callback stays far below 20 kB. */
const MAX_ERROR_CODE = 255;

/** Does the change call for a callback: asked for, from `sent` on, on a channel that has one. */
export function callsBack(change: MessageStatusChanged): boolean {
  return (
    change.deliveryReport === 'yes' &&
    STATUS_RANK[change.status] >= STATUS_RANK.sent &&
    change.status !== 'cancelled' &&
    EVENT_TYPES[change.channel] !== undefined
  );
}

/** The callback's body. The message's text is never in it. */
export function deliveryReportBody(change: MessageStatusChanged, madeAt: number): string {
  const event: DeliveryReportEvent = {
    type: EVENT_TYPES[change.channel] ?? `${change.channel}.delivery_report`,
    timestamp: new Date(madeAt).toISOString(),
    data: {
      reference_id: change.batchId,
      message_id: change.messageId,
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
