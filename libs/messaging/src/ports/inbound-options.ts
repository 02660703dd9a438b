import type { InboundReceived } from '../message/events.js';
import type { InboundMessage } from '../message/inbound-message.js';

/** An inbound message and the tenant it belongs to. */
export type TenantInbound = InboundMessage & { readonly tenant: string };

/**
 * Reads consent for the channel from a text; `undefined`: the text contains no consent word. Called before the
 * transaction that records the message, so that the reader may query the tenant's words.
 */
export type ConsentReader = (
  text: string,
  message: TenantInbound,
) => 'opted_in' | 'opted_out' | undefined | Promise<'opted_in' | 'opted_out' | undefined>;

/** Options for inbound messages. */
export interface InboundOptions {
  /**
   * Returns the tenant of a message for which the transport names none. `undefined`: no tenant has the number, and
   * the message is skipped and logged. Where the function throws, no message is recorded, and the provider repeats
   * the callback. @default ''
   */
  readonly tenant?: (message: InboundMessage) => string | undefined | Promise<string | undefined>;
  /**
   * Words that opt out and in, for each tenant if necessary: `(text, { tenant }) => readerOf(tenant)(text)`.
   * @default `consentWords()`, the words of several languages
   */
  readonly consent?: ConsentReader;
  /**
   * Returns the reply to a message that has just changed the consent of its sender, for each tenant if necessary
   * (`received.tenant`); `undefined`: no reply. @default no reply
   */
  readonly reply?: (received: InboundReceived) => string | undefined | Promise<string | undefined>;
}
