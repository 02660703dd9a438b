import { digestId } from '../store/digest-id.js';
import type { InboundMessage } from '../message/inbound-message.js';
import { identifier, plausible, recipientNumber } from '../message/report-fields.js';
import type { Identity } from './person.js';
import { isBsuid } from './person.js';

/** An inbound message as the recorder takes it: fit to store, whoever parsed it. */
export interface Incoming {
  readonly message: InboundMessage;
  /** What makes it this message and no other. */
  readonly digest: string;
  readonly identity: Identity;
  /** Epoch milliseconds; never in the time to come. */
  readonly at: number;
}

const LONGEST_TEXT = 65_536;
const CHANNELS: readonly unknown[] = ['sms', 'whatsapp'];

/** @returns one line that says why nothing can be made of it (no content, no number) */
export function incoming(given: InboundMessage, transport: string, now: number): Incoming | string {
  const messageId = identifier(given.messageId);
  if (messageId === null) return 'no message id';
  const to = recipientNumber(given.to) ?? identifier(given.to);
  if (to === null) return 'no number it was written to';
  const from = recipientNumber(given.from);
  const bsuid = isBsuid(given.bsuid) ? given.bsuid : null;
  if (from === null && bsuid === null) return 'nobody who wrote it';
  if (!CHANNELS.includes(given.channel)) return 'no channel people write on';
  const sentAt = given.sentAt instanceof Date ? plausible(given.sentAt, now) : null;
  const message: InboundMessage = {
    messageId,
    channel: given.channel,
    from,
    bsuid,
    to,
    text: textOf(given.text),
    sentAt,
  };
  return {
    message,
    digest: digestId(transport, given.channel, messageId),
    identity: { phone: from, bsuid, name: undefined },
    at: Math.min(sentAt?.getTime() ?? now, now),
  };
}

function textOf(text: unknown): string | null {
  return typeof text === 'string' ? text.slice(0, LONGEST_TEXT).replace(/[\0\p{Cs}]/gu, '') : null;
}
