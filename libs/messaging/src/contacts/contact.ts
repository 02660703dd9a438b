import type { EntityManager } from 'typeorm';
import type { Channel } from '../message/message.js';

/** A person: by phone number, by business-scoped user id, or both. A text alone is a phone number. */
export type Person = string | PersonIds;

export interface PersonIds {
  /** Digits with country code; a plus, spaces and dashes are normalised away. */
  readonly phone?: string;
  /** WhatsApp's business-scoped user id. */
  readonly bsuid?: string;
}

/** What is known of a person. What is left out stays as it is. */
export interface NewContact extends PersonIds {
  /** At most 255 characters. */
  readonly name?: string;
}

export interface Contact {
  /** UUIDv7. */
  readonly id: string;
  readonly tenant: string;
  readonly phone: string | null;
  readonly bsuid: string | null;
  readonly name: string | null;
  readonly createdAt: Date;
  /** By channel. */
  readonly consents: Readonly<Partial<Record<Channel, Consent>>>;
  /** When they last wrote, by the WhatsApp number they wrote to. */
  readonly lastInbound: Readonly<Record<string, Date>>;
  /** Ids of the groups they are in. */
  readonly groups: readonly string[];
}

export type ConsentState = 'opted_in' | 'opted_out';

export interface Consent {
  readonly state: ConsentState;
  readonly at: Date;
  /** Where it was given: `web form`, `keyword`, `import`. */
  readonly source: string;
  /** What proves it. */
  readonly evidence: string | null;
}

/** One line of the append-only history. */
export interface ConsentEntry extends Consent {
  readonly channel: Channel;
}

export interface ConsentOptions extends ContactOptions {
  readonly channel: Channel;
  /** Where it was given; at most 255 characters. */
  readonly source: string;
  readonly evidence?: string;
  /** When it was given; an older one never overrules a younger. A time to come counts as now. @default now */
  readonly at?: Date;
}

export interface ContactOptions {
  /** Whose contact. @default '' */
  readonly tenant?: string;
  /** Join this transaction, as with `send()`. */
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
}

export interface SuppressionEntry {
  readonly recipient: string;
  /** `*`: every channel. */
  readonly channel: Channel | '*';
  readonly reason: string;
  readonly at: Date;
}
