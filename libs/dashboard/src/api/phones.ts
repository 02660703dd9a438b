import type { Timestamp } from './common.js';

// GET api/phones → PhonesAnswer, POST api/phones/reply, POST api/phones/report
// (simulator only, else 404; need `act`)

/** Newest messages to simulated recipients, with whole addresses and content: no person gets them. */
export interface PhonesAnswer {
  /** The phone with the newest message first. */
  readonly phones: readonly Phone[];
  /** E-mails, newest first. */
  readonly inbox: readonly InboxEmail[];
}

export interface Phone {
  readonly channel: string;
  readonly tenant: string;
  /** Address of the simulated recipient, whole. */
  readonly number: string;
  /** Oldest first; of both directions. */
  readonly messages: readonly PhoneMessage[];
  /** Its owner can write back. */
  readonly canReply: boolean;
  /** End of the 24 hours after the last answer; `null`: none, or a channel without windows. */
  readonly windowEndsAt: Timestamp | null;
}

export interface PhoneMessage {
  /** Id of a message to the phone, for `api/phones/report`. */
  readonly id: string;
  /** `in`: the phone got it. `out`: the phone's owner wrote it. */
  readonly direction: 'in' | 'out';
  /** The other side: sender of the message, recipient of an answer. */
  readonly sender: string;
  readonly at: Timestamp;
  /** Text of a call, or the product of an order. */
  readonly text: string | null;
  readonly kind: 'message' | 'call' | 'order';
  /** Action of the phone's owner in a call, such as `answered, 7 s, pressed 1`. */
  readonly note: string | null;
  readonly status: string | null;
}

export interface InboxEmail {
  readonly id: string;
  readonly channel: string;
  readonly tenant: string;
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string | null;
  /** `api/phones/:id/html` has it, for a sandboxed frame. */
  readonly hasHtml: boolean;
  readonly at: Timestamp;
  readonly status: string;
}

/** → 202 `{}`. The answer goes the way of a provider's inbound callback. */
export interface ReplyRequest {
  readonly channel: string;
  /** Address of the simulated recipient. */
  readonly from: string;
  /** The tenant's number, as `sender` of its message. */
  readonly to: string;
  readonly text: string;
  readonly tenant?: string;
}

/** → 202 `{}`. The report goes the way of a provider's report. */
export interface ReportRequest {
  readonly messageId: string;
  /** A status that reports may have, or an event of the channel. */
  readonly status: string;
}
