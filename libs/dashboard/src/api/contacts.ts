import type { ListAnswer, ListQuery, ShownAddress, TenantQuery, Timestamp } from './common.js';
import type { ContentOutline } from './messages.js';

// GET api/contacts → ListAnswer<ContactItem>; of one tenant, which callers that see several name
// GET api/contacts/:id?reveal=true → ContactDetail; whole with `reveal` (needs the right; audited)

export interface ContactsQuery extends ListQuery, TenantQuery {
  /** A whole address, or the id of a contact. */
  readonly q?: string;
}

export interface ContactItem {
  readonly id: string;
  readonly tenant: string;
  /** Masked to its first letter. */
  readonly name: string | null;
  readonly addresses: readonly {
    readonly kind: 'phone' | 'email' | 'platform';
    readonly value: ShownAddress;
  }[];
  readonly createdAt: Timestamp;
  /** By channel (`sms`), and by `{channel}:{category}`. */
  readonly consents: Readonly<
    Record<
      string,
      { readonly state: ConsentState; readonly at: Timestamp; readonly source: string }
    >
  >;
  readonly groups: readonly string[];
}

export type ConsentState = 'opted_in' | 'opted_out';

export interface ContactDetail extends ContactItem {
  /** Newest first. */
  readonly history: readonly {
    readonly at: Timestamp;
    readonly channel: string;
    /** `*`: the whole channel. */
    readonly category: string;
    readonly state: ConsentState;
    /** Such as `keyword` or `web form`. */
    readonly source: string;
    /** `null` without `reveal`, or where there is none. */
    readonly evidence: string | null;
  }[];
  /** The last inbound message to each of the tenant's numbers, newest first. */
  readonly windows: readonly {
    /** The number that the contact wrote to. */
    readonly sender: string;
    readonly lastInboundAt: Timestamp;
    /** 24 hours after it. */
    readonly windowEndsAt: Timestamp;
  }[];
  readonly suppressions: readonly {
    readonly channel: string;
    readonly category: string;
    readonly reason: string;
    readonly at: Timestamp;
    readonly messageId: string | null;
  }[];
}

// GET api/contacts/:id/conversation?cursor=&limit=&reveal=true → ConversationAnswer; texts with
// `reveal` (needs the right; audited)

/** Newest last; `nextCursor` leads to older entries, also where this page has fewer than `limit`, or none. */
export type ConversationAnswer = ListAnswer<ConversationEntry>;

export interface ConversationEntry {
  /** Id of the message; of an inbound one its own. */
  readonly id: string;
  readonly direction: 'in' | 'out';
  readonly channel: string;
  /** Number, address or name of the tenant. */
  readonly sender: string;
  readonly at: Timestamp;
  /** `null` for an inbound message. */
  readonly status: string | null;
  /** `null` without `reveal`, after retention, or where it is no text. */
  readonly text: string | null;
  readonly content: ContentOutline | null;
  /** `null` for a message of the tenant. */
  readonly received: ReceivedOutline | null;
}

/** What an inbound message has beside its text. */
export interface ReceivedOutline {
  /** The name that the sender shows on the platform, masked without `reveal`. */
  readonly profileName: string | null;
  /** It answers a message. */
  readonly isReply: boolean;
  /** A place, a person, an emoji and the like in words; `null` without `reveal`. */
  readonly detail: string | null;
  readonly files: readonly ReceivedFile[];
}

export interface ReceivedFile {
  /** Such as `image` or `voice`. */
  readonly type: string;
  readonly contentType: string | null;
  /** `null` without `reveal`. */
  readonly filename: string | null;
  /** Bytes. */
  readonly size: number | null;
}

// GET api/contacts/:id/media?message=&file=0 → the bytes of a file (needs `reveal`; audited)

// GET api/contacts/export → text/csv (needs `reveal`; audited)
// POST api/contacts/import → ImportAnswer (needs `act`)

export interface ImportRequest {
  /** CSV with a header: phone, email, platform, name and consent columns. */
  readonly csv: string;
  readonly tenant?: string;
}

export interface ImportAnswer {
  readonly imported: number;
  /** Skipped rows by their line, at most 100. */
  readonly errors: readonly {
    readonly line: number;
    readonly path: string;
    readonly message: string;
  }[];
}
