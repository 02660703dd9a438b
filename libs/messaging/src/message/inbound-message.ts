import type { Channel } from './message.js';

/** A message somebody wrote to us, as a parser or a transport yields it. */
export interface InboundMessage {
  /** The provider's id, at most 255 characters: what makes it this message and no other. */
  readonly messageId: string;
  readonly channel: Channel;
  /** Who wrote: digits with country code; `null` where only the `bsuid` is known. */
  readonly from: string | null;
  /** WhatsApp's business-scoped user id of who wrote. */
  readonly bsuid: string | null;
  /** The number of ours they wrote to. */
  readonly to: string;
  /** `null`: something else than a text. */
  readonly text: string | null;
  /** When they wrote; `null` where the provider does not say. */
  readonly sentAt: Date | null;
  /** Whose message it is, where the transport knows. @default the `inbound.tenant` option */
  readonly tenant?: string;
}
