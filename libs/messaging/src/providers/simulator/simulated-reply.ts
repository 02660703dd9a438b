import type { InboundMessage } from '../../message/events.js';
import type { Submission } from '../../ports/message-transport.js';
import { platformIdOf } from './simulated-recipient.js';

/** The answer of a recipient that writes back. */
export function replyTo(
  { id, tenant, channel, sender }: Submission,
  from: string,
  text: string,
  idPrefix: string,
): InboundMessage {
  const messageId = platformIdOf(idPrefix, `${id} reply`, from);
  return { messageId, channel, from, bsuid: null, to: sender, text, sentAt: null, tenant };
}
