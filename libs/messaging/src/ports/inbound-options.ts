import type { InboundReceived } from '../message/events.js';
import type { InboundMessage } from '../message/inbound-message.js';

/** What a text says of its writer's consent for the channel; `undefined`: nothing. */
export type ConsentReader = (
  text: string,
  message: InboundMessage,
) => 'opted_in' | 'opted_out' | undefined;

/** How messages that people write to us are taken. */
export interface InboundOptions {
  /**
   * Whose message it is, where the transport does not say; `undefined`: nobody's, it is left out and
   * logged. Where it throws nothing is taken, and the sender comes again. @default ''
   */
  readonly tenant?: (message: InboundMessage) => string | undefined | Promise<string | undefined>;
  /** STOP and START. @default `consentWords()`, the words of several languages */
  readonly consent?: ConsentReader;
  /** What is answered, once, to somebody whose word has just changed their consent. @default nothing */
  readonly reply?: (received: InboundReceived) => string | undefined;
}
