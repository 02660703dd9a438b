import type { EntityManager } from 'typeorm';
import type { Address } from '../message/address.js';
import type { Channel, ConsentCategory } from '../message/message.js';

/** One or several addresses. A text is a phone number, an e-mail address or `platform:{id}`. */
export type Person = string | Address | NewContact;

/** Data of a contact. An omitted field does not change; addresses are added, never removed. */
export interface NewContact {
  /** Digits with country code. The library removes a plus, spaces and dashes. */
  readonly phone?: string;
  readonly email?: string;
  /** A user id that only the platform knows, such as WhatsApp's business-scoped user id. */
  readonly platform?: string;
  readonly addresses?: readonly Address[];
  /** At most 255 characters. */
  readonly name?: string;
}

export interface Contact {
  /** UUIDv7. */
  readonly id: string;
  readonly tenant: string;
  /** All addresses. The address of a kind that `upsert()` received last comes first in its kind. */
  readonly addresses: readonly Address[];
  /** The first of its kind in `addresses`, as are `email` and `platform`. */
  readonly phone: string | null;
  readonly email: string | null;
  readonly platform: string | null;
  readonly name: string | null;
  readonly createdAt: Date;
  /** Consent by channel (`sms`), and by `{channel}:{category}` (`email:marketing`). */
  readonly consents: Readonly<Record<string, Consent>>;
  /** Time of the contact's last message, by the address that received it. */
  readonly lastInbound: Readonly<Record<string, Date>>;
  /** Ids of the contact's groups. */
  readonly groups: readonly string[];
}

export type ConsentState = 'opted_in' | 'opted_out';

export interface Consent {
  readonly state: ConsentState;
  readonly at: Date;
  /** Origin of the consent: `web form`, `keyword`, `import`. */
  readonly source: string;
  /** Evidence of the consent, such as the text of the message. */
  readonly evidence: string | null;
}

/** A channel and a category; `*` is every channel, or every category. */
export interface ConsentScope {
  readonly channel: Channel | '*';
  readonly category: ConsentCategory | '*';
}

/** One line of the append-only history. */
export interface ConsentEntry extends Consent, ConsentScope {}

export interface ConsentOptions extends ContactOptions {
  readonly channel: Channel;
  /**
   * A refusal leaves other categories unchanged; consent for the whole channel covers all.
   * @default '*', the whole channel
   */
  readonly category?: ConsentCategory | '*';
  /** Origin of the consent; at most 255 characters. */
  readonly source: string;
  readonly evidence?: string;
  /** An older entry never overrules a younger one; a future time counts as now. @default now */
  readonly at?: Date;
}

export interface ContactOptions {
  /** @default '' */
  readonly tenant?: string;
  /** Joins this transaction, as in `send()`. */
  readonly manager?: EntityManager;
}

export interface ContactListOptions extends ContactOptions {
  readonly cursor?: string;
  /** @default 100, at most 1000 */
  readonly limit?: number;
}

export interface SuppressOptions extends ContactOptions {
  /** @default '*', every channel */
  readonly channel?: Channel | '*';
  /** @default '*', every category */
  readonly category?: ConsentCategory | '*';
}

export interface SuppressionListOptions extends ContactListOptions {
  /** Only entries that messages on this channel meet, without those of erased people. */
  readonly channel?: Channel;
  /** Only entries of this address, without those of erased people. */
  readonly address?: string | Address;
}

export interface SuppressionEntry extends ConsentScope {
  /** `null`: of an erased person, of whom only a keyed digest is stored. */
  readonly address: Address | null;
  /** Such as `hard_bounce` or `complaint` of an email. */
  readonly reason: string;
  readonly at: Date;
  /** Id of the message whose bounce or complaint was the reason. */
  readonly messageId: string | null;
}

export interface ErasureResult {
  /** Number of messages from which the person was erased. */
  readonly messages: number;
  /** Number of batches with a message in flight, from which the address is erased once it ends. */
  readonly remaining: number;
}
