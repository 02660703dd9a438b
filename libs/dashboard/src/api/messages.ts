import type { ListQuery, ShownAddress, TenantQuery, Timestamp } from './common.js';

// GET api/messages → ListAnswer<MessageItem>

/** Newest first, over all channels. */
export interface MessagesQuery extends ListQuery, TenantQuery {
  readonly channel?: string;
  readonly status?: string;
  /** A whole address in any usual form; whole even where the answer masks it. */
  readonly to?: string;
  /** Sender, in full. */
  readonly from?: string;
  /** Id of a batch or message, or the provider's id of a message. */
  readonly reference?: string;
  readonly tag?: string;
  readonly provider?: string;
  /** Error code, in full. */
  readonly error?: string;
  /** 3 to 15 digits of the recipient's number, one after the other; without `reveal` among those that are shown. */
  readonly toPart?: string;
  /** ISO 3166 code of the country of the recipient's number, such as `NG`. */
  readonly country?: string;
  /** 2 to 100 characters of the subject, in any case; needs `reveal`. */
  readonly subject?: string;
  /** Accepted at or after this time. */
  readonly since?: Timestamp;
  /** Accepted before this time. */
  readonly until?: Timestamp;
}

// GET api/messages/total (as MessagesQuery, without `cursor` and `limit`) → TotalAnswer

export interface TotalAnswer {
  /** At most 10,000. */
  readonly messages: number;
  /** There may be more: the count looks at 10,000 batches, or 30,000 recipients. */
  readonly more: boolean;
}

export interface MessageMoney {
  /** What the tenant is charged, as a decimal number with `priceCurrency`; `null`: not known, or free. */
  readonly price: string | null;
  readonly priceCurrency: string | null;
  /** What the provider reports as the cost, with `currency`; `null` also where the caller may not see it. */
  readonly cost: string | null;
  readonly currency: string | null;
}

export interface MessageItem extends MessageMoney {
  /** `{batchId}-{position}`. */
  readonly id: string;
  readonly batchId: string;
  readonly tenant: string;
  readonly channel: string;
  readonly recipient: ShownAddress;
  readonly sender: string;
  readonly status: string;
  readonly errorCode: string | null;
  /** The error in words; `null` without an error code. */
  readonly reason: string | null;
  /** Earliest start of a queued message that is deferred for the reason. */
  readonly deferredUntil: Timestamp | null;
  /** `null` while the message is queued. */
  readonly provider: string | null;
  readonly tags: readonly string[];
  readonly acceptedAt: Timestamp;
  readonly sendAt: Timestamp | null;
  /** `null`: the message carries no one-time code. */
  readonly code: CodeStatus | null;
  /** ISO 3166 code of the country of the recipient's number; empty: another address, or not known. */
  readonly country: string;
  /** Parts of one SMS; 0 where the channel has none. */
  readonly parts: number;
  /** Kind of the content, such as `text`; `null`: it was erased, or carries a one-time code. */
  readonly kind: string | null;
  readonly template: string | null;
}

// GET api/messages/:id → MessageDetail

export interface MessageDetail extends MessageItem {
  /** Requests to providers with the message, also rejected ones. */
  readonly attempts: number;
  /** The provider's id of the message, once it is known. */
  readonly providerId: string | null;
  readonly category: string | null;
  readonly sentAt: Timestamp | null;
  readonly validUntil: Timestamp | null;
  /** Shape of the content, without its words; `null` also where it carries a one-time code. */
  readonly content: ContentOutline | null;
  /** Facts of a call or an order, without digits that a person pressed. */
  readonly facts: readonly Fact[];
  /** The verification whose code the message carries. */
  readonly verification: { readonly id: string; readonly expiresAt: Timestamp } | null;
  /** Contact with this address. */
  readonly contactId: string | null;
  /** Oldest first. */
  readonly timeline: readonly TimelineEntry[];
  /** `api/messages/:id/resend` accepts it. */
  readonly canResend: boolean;
  /** `api/messages/:id/settle` accepts it. */
  readonly canSettle: boolean;
}

export interface ContentOutline {
  /** Such as `text`, `template` or `email`. */
  readonly kind: string;
  /** Length of the text in UTF-16 units, where it has one. */
  readonly characters: number | null;
  /** Name and language of the template, where it has one. */
  readonly template: string | null;
  /** Product and amount of an order, such as `airtime-ng, 100 NGN`. */
  readonly product: string | null;
}

/** State of the one-time code that a message carries. */
export type CodeStatus = 'pending' | 'verified' | 'expired' | 'exhausted';

/** A fact of a call or an order, in words. */
export interface Fact {
  readonly title: string;
  readonly value: string;
}

export interface TimelineEntry {
  readonly at: Timestamp;
  /**
   * `accepted`: the send. `scheduled`: waits for its time. `attempt`: a request to the provider.
   * `outcome`: its answer. `report`: a status of the provider. `event`: a fact that changes no
   * status. `waiting`: why the message has not started yet.
   */
  readonly kind: 'accepted' | 'scheduled' | 'attempt' | 'outcome' | 'report' | 'event' | 'waiting';
  /** Status after it; `null`: it changed none. */
  readonly status: string | null;
  readonly title: string;
  readonly detail: string | null;
  /** The provider's words of a failure, with numbers and addresses masked; `null`: none are kept. */
  readonly answer: string | null;
  /** Advice to the reader; `null`: none. */
  readonly remedy: string | null;
  /** Error code of the provider or of the library. */
  readonly code: string | null;
  readonly provider: string | null;
}

// POST api/messages/:id/reveal → RevealAnswer (needs `reveal`; audited)

export interface RevealAnswer {
  readonly recipient: string;
  /** As accepted; `null` after retention erased it. E-mail `html` is shown in a sandbox only. */
  readonly content: { readonly kind: string; readonly [field: string]: unknown } | null;
  /** As of the message, with the digits that a person pressed. */
  readonly facts: readonly Fact[];
}

// GET api/messages/:id/html → the html of an e-mail for a sandboxed frame, under a policy of its own
// (needs `reveal`; audited). GET api/phones/:id/html is the same of a simulated message (needs `act`).

// GET api/messages/export?…&reveal=true (as MessagesQuery, `limit` up to 10,000, which is the default) →
// text/csv of so many messages, `X-Rows` has their number; whole with `reveal` (needs the right; audited for
// each of their tenants). Where there are more, `X-Truncated` is there and `X-Next-Cursor` is the `cursor` of
// the next piece. Its columns `price` and `cost` are those of MessageMoney.
