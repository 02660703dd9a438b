import type { InboundMessage } from '../message/inbound-message.js';
import type { CallbackRequest } from './delivery-report-parser.js';

/**
 * Converts a provider's callback into inbound messages. An unreadable entry goes into `errors` and does not affect
 * the others.
 */
export interface InboundParser {
  parse(request: CallbackRequest): ParsedInbound;
}

export interface ParsedInbound {
  readonly messages: readonly InboundMessage[];
  /** One line for each unreadable entry, without content or whole numbers. */
  readonly errors: readonly string[];
}
