import type { Timestamp } from './common.js';

// POST api/messages → SendAnswer (needs `act`), POST api/messages/estimate → EstimateAnswer

export interface SendRequest {
  readonly channel: string;
  /** Needed where the caller sees several tenants. */
  readonly tenant?: string;
  readonly from?: string;
  /** Addresses, and group ids where the channel has groups. */
  readonly to: readonly string[];
  /** Content of a kind of the channel, such as `{ kind: 'text', text: 'Hello' }`. */
  readonly content: { readonly kind: string; readonly [field: string]: unknown };
  readonly sendAt?: Timestamp;
  /** The same key and content return the first batch. At most 255 visible ASCII characters. */
  readonly idempotencyKey?: string;
}

export interface SendAnswer {
  readonly batchId: string;
  /** Number of unique recipients. */
  readonly recipients: number;
  readonly createdAt: Timestamp;
  readonly replayed: boolean;
}

/** Estimate of a send; nothing is sent or stored. */
export interface EstimateAnswer {
  /** Entries of `to`. */
  readonly given: number;
  /** Repeated addresses, which are sent to once. */
  readonly duplicates: number;
  /** Unusable entries: the send is refused until they are corrected. At most 100. */
  readonly invalid: readonly { readonly path: string; readonly message: string }[];
  /** Unique addresses, with the members of groups. */
  readonly recipients: number;
  /** Recipients that a policy denies now, by reason such as `opted_out`. */
  readonly denied: readonly {
    readonly reason: string;
    readonly title: string;
    readonly recipients: number;
  }[];
  /** Recipients that would get the message. */
  readonly allowed: number;
  /** Parts of one SMS; 0 where the channel has none. */
  readonly parts: number;
  /** Price of one message as a decimal number; `null`: the rate card has none. */
  readonly unitCost: string | null;
  /** Price of all allowed recipients; `null` where one has no price, or more than 1,000 recipients have prices of their own. */
  readonly totalCost: string | null;
  readonly currency: string | null;
}

// POST api/messages/text → SmsTextAnswer (needs `act`): how an SMS with the text is split; nothing is stored

export interface SmsTextRequest {
  /** At most 10,000 characters. */
  readonly text: string;
}

export interface SmsTextAnswer {
  readonly encoding: 'GSM-7' | 'UCS-2';
  /** Septets (GSM-7) or 16-bit units (UCS-2). */
  readonly units: number;
  /** Units that still fit into the last part. */
  readonly left: number;
  /** The index behind the last UTF-16 unit of each part. */
  readonly ends: readonly number[];
  /** Characters that are not in GSM 03.38, so that the text needs UCS-2; at most ten. */
  readonly ucs2: readonly string[];
  /** Characters that count twice, of a text in GSM-7; at most ten. */
  readonly doubled: readonly string[];
}

// POST api/messages/:id/resend → SendAnswer (needs `act`): the same content to the same recipient.
// Refused while the message may still leave. GET estimates it → EstimateAnswer (needs `act`).

export interface ResendRequest {
  /** The same key returns the first repetition. At most 255 visible ASCII characters. */
  readonly idempotencyKey?: string;
}

// POST api/messages/:id/settle → SettleMessageAnswer (needs `act` and `operate`; audited): what
// became of a message that is `unknown`.

export interface SettleMessageRequest {
  /** A status that reports of the channel may have, such as `delivered` or `failed`. */
  readonly status: string;
  readonly note?: string;
}

export interface SettleMessageAnswer {
  readonly status: string;
}
