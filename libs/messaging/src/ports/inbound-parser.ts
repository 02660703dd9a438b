import type { InboundMessage } from '../message/inbound-message.js';
import type { CallbackRequest } from './delivery-report-parser.js';

/** Turns a provider's callback into what people wrote. A bad entry is left out and told in `errors`; it never fails the others. */
export interface InboundParser {
  parse(request: CallbackRequest): ParsedInbound;
}

export interface ParsedInbound {
  readonly messages: readonly InboundMessage[];
  /** One line per entry that could not be read; no content, no whole numbers. */
  readonly errors: readonly string[];
}
