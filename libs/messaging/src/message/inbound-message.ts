import type { Channel } from './message.js';

export interface InboundMessage {
  /** The provider's id, at most 255 characters; identifies the message. */
  readonly messageId: string;
  readonly channel: Channel;
  /** Sender's address, such as digits with country code; `null` where only the `bsuid` is known. */
  readonly from: string | null;
  /** WhatsApp's business-scoped user id of the sender. */
  readonly bsuid: string | null;
  /** The number or address that received the message. */
  readonly to: string;
  /** `null`: not a text message. */
  readonly text: string | null;
  /** Time of the message; `null` where the provider omits it. */
  readonly sentAt: Date | null;
  /** Tenant of the message, where the transport has it. @default the `inbound.tenant` option */
  readonly tenant?: string;
}
