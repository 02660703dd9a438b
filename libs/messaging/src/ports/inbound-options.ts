import type { InboundReceived } from '../message/events.js';
import type { InboundMessage } from '../message/inbound-message.js';

/** An inbound message and the tenant it belongs to. */
export type TenantInbound = InboundMessage & { readonly tenant: string };

/**
 * Reads consent for the channel from a text; `undefined`: the text says nothing about it. Called before the
 * transaction that takes the message, so that it may look the tenant's words up.
 */
export type ConsentReader = (
  text: string,
  message: TenantInbound,
) => 'opted_in' | 'opted_out' | undefined | Promise<'opted_in' | 'opted_out' | undefined>;

/** How inbound messages are taken. */
export interface InboundOptions {
  /**
   * The tenant of a message, where the transport does not name it; `undefined`: no tenant has the number,
   * and the message is left out and logged. Where it throws nothing is taken, and the provider repeats
   * the callback. @default ''
   */
  readonly tenant?: (message: InboundMessage) => string | undefined | Promise<string | undefined>;
  /**
   * Words that opt out and in, by tenant if need be: `(text, { tenant }) => readerOf(tenant)(text)`.
   * @default `consentWords()`, the words of several languages
   */
  readonly consent?: ConsentReader;
  /**
   * Answer to a message that has just changed its sender's consent, by `received.tenant` if need be;
   * `undefined`: none. @default no answer
   */
  readonly reply?: (received: InboundReceived) => string | undefined | Promise<string | undefined>;
}
